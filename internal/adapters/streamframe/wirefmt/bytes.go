package wirefmt

import (
	"encoding/binary"
	"math/bits"
)

// Number is a field's number, Type how its value is laid out.
type (
	Number int32
	Type   int8
)

// Types of the encoding; 6 and 7 are none.
const (
	Varint     Type = 0
	Fixed64    Type = 1
	Bytes      Type = 2
	startGroup Type = 3
	endGroup   Type = 4
	Fixed32    Type = 5
)

const (
	maxNumber = 1<<29 - 1
	// maxGroups is how deep groups, which no message of ours has, may lie within each other.
	maxGroups = 10000
)

// What is wrong with bytes: the functions below return one of these in place of a length.
const (
	truncated = -1 - iota
	badNumber
	overflow
	badType
	badEnd
	tooDeep
)

// Reason says in words what a negative length means.
func Reason(n int) string {
	switch n {
	case truncated:
		return "unexpected EOF"
	case badNumber:
		return "invalid field number"
	case overflow:
		return "variable length integer overflow"
	case badType:
		return "cannot parse reserved wire type"
	case badEnd:
		return "mismatching end group marker"
	case tooDeep:
		return "groups lie too deep"
	}
	return "parse error"
}

// SizeVarint is the number of bytes of v, 1 to 10.
func SizeVarint(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

// SizeTag is the number of bytes of a field's tag.
func SizeTag(num Number) int { return SizeVarint(uint64(num) << 3) }

// SizeBytes is what a value of n bytes takes with its length.
func SizeBytes(n int) int { return SizeVarint(uint64(n)) + n }

// AppendVarint appends v.
func AppendVarint(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

// AppendTag appends the tag of a field.
func AppendTag(b []byte, num Number, typ Type) []byte {
	return AppendVarint(b, uint64(num)<<3|uint64(typ))
}

// ConsumeVarint returns the varint that b begins with and its length, negative if there is none.
func ConsumeVarint(b []byte) (v uint64, n int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	v, n = binary.Uvarint(b)
	switch {
	case n > 0:
		return v, n
	case n == 0 && len(b) < binary.MaxVarintLen64:
		return 0, truncated
	}
	return 0, overflow
}

// ConsumeTag returns the tag that b begins with and its length, negative if there is none or
// its number is none that a field can have.
func ConsumeTag(b []byte) (Number, Type, int) { return consumeTag(b, maxNumber) }

func consumeTag(b []byte, most uint64) (Number, Type, int) {
	v, n := ConsumeVarint(b)
	if n < 0 {
		return 0, 0, n
	}
	if num := v >> 3; num == 0 || num > most {
		return 0, 0, badNumber
	}
	return Number(v >> 3), Type(v & 7), n
}

// ConsumeBytes returns the length-delimited value that b begins with, in b's memory, and its
// length with that of the length, negative if it is not there as a whole.
func ConsumeBytes(b []byte) ([]byte, int) {
	size, n := ConsumeVarint(b)
	switch {
	case n < 0:
		return nil, n
	case size > uint64(len(b)-n):
		return nil, truncated
	}
	return b[n : n+int(size)], n + int(size)
}

// ConsumeValue returns the length of the value, of a field of that tag, that b begins with,
// negative if there is none.
func ConsumeValue(num Number, typ Type, b []byte) int { return consumeValue(num, typ, b, maxGroups) }

func consumeValue(num Number, typ Type, b []byte, depth int) (n int) {
	switch typ {
	case Varint:
		_, n = ConsumeVarint(b)
	case Bytes:
		_, n = ConsumeBytes(b)
	case Fixed32:
		return fixed(b, 4)
	case Fixed64:
		return fixed(b, 8)
	case startGroup:
		return consumeGroup(num, b, depth)
	case endGroup:
		return badEnd
	default:
		return badType
	}
	return n
}

func fixed(b []byte, n int) int {
	if len(b) < n {
		return truncated
	}
	return n
}

// consumeGroup takes wider numbers than a message may have, as protobuf does within groups.
func consumeGroup(num Number, b []byte, depth int) int {
	if depth < 0 {
		return tooDeep
	}
	for rest := b; ; {
		inner, typ, n := consumeTag(rest, 1<<31-1)
		if n < 0 {
			return n
		}
		rest = rest[n:]
		if typ == endGroup {
			if inner != num {
				return badEnd
			}
			return len(b) - len(rest)
		}
		if n = consumeValue(inner, typ, rest, depth-1); n < 0 {
			return n
		}
		rest = rest[n:]
	}
}
