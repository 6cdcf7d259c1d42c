package wirefmt

import (
	"encoding/binary"
	"errors"
	"unicode/utf8"
)

// Fields is one message on its way. A message is described by one function that names its
// fields in the order of their numbers, for both directions:
//
//	func visitSize(f *wirefmt.Fields, s *Size) {
//		wirefmt.Uint32(f, 1, &s.Cols)
//		wirefmt.Uint32(f, 2, &s.Rows)
//	}
//
// Append calls it once. Read calls it for each field that is there, of which it then takes the
// one whose number and type fit, and once more at the end, where what must be there is missed.
// The functions for fields report whether they have just taken a value.
//
// As proto3 has it, zero values are not written, unknown fields and known ones of another type
// are skipped, and of a value given twice the last counts. As docs/protocol.md has it, a message
// given twice within another is refused.
type Fields struct {
	phase phase
	out   []byte // Append: what there is so far

	num   Number // Read: the field at hand
	typ   Type
	value uint64 // of Varint, Fixed32, Fixed64
	data  []byte // of Bytes
	taken bool
	seen  uint64 // numbers below 64 that were taken in this message

	rest  []byte // of this message behind the field at hand
	notes []note // of this message from first on, of those around it before
	first int

	unknown bool  // a field of any message was not taken
	broken  error // the bytes are no such message
	refused error // reading stops at either
}

type phase uint8

const (
	writing phase = iota
	reading
	ending // reading, behind the last field
)

// note is what is wrong with a field's value, for as long as it is not given again.
type note struct {
	num Number
	err error
}

// ErrText says that a text is not UTF-8.
var ErrText = errors.New("text is not UTF-8")

// Append appends the message m. The error is ErrText; b is returned as it was then.
func Append[T any](b []byte, m *T, visit func(*Fields, *T)) ([]byte, error) {
	f := Fields{out: b}
	visit(&f, m)
	if f.broken != nil {
		return b, f.broken
	}
	return f.out, nil
}

// AppendEnvelope appends the message m as the one field of an envelope, as Append does.
func AppendEnvelope[T any](b []byte, num Number, m *T, visit func(*Fields, *T)) ([]byte, error) {
	f := Fields{out: b}
	Message(&f, num, true, m, visit)
	if f.broken != nil {
		return b, f.broken
	}
	return f.out, nil
}

// Outcome is how reading went: nothing is wrong if neither error is set.
type Outcome struct {
	Broken  error // the bytes are no such message
	Refused error // what was noted or refused first
	Unknown bool  // there were fields that nobody took
}

// Read fills m, which is zero, from the bytes of a message. Nothing of it is in their memory.
func Read[T any](b []byte, m *T, visit func(*Fields, *T)) Outcome {
	f := Fields{phase: reading}
	readMessage(&f, b, m, visit)
	return Outcome{Broken: f.broken, Refused: f.refused, Unknown: f.unknown}
}

// readMessage leaves f as it was, at the field whose value b is, unless reading has to stop.
func readMessage[T any](f *Fields, b []byte, m *T, visit func(*Fields, *T)) {
	num, typ, seen, first := f.num, f.typ, f.seen, f.first
	f.seen, f.first = 0, len(f.notes)
	for len(b) > 0 {
		n := f.next(b)
		if n < 0 {
			f.broken = errors.New(Reason(n))
			return
		}
		b = b[n:]
		f.rest, f.taken = b, false
		visit(f, m)
		if f.stopped() {
			return
		}
		f.unknown = f.unknown || !f.taken
	}
	f.phase = ending
	visit(f, m)
	f.phase = reading
	if len(f.notes) > f.first {
		f.Refuse(f.notes[f.first].err)
	}
	f.num, f.typ, f.seen, f.first, f.taken = num, typ, seen, first, true
}

func (f *Fields) stopped() bool { return f.broken != nil || f.refused != nil }

// next takes the field that b begins with apart and returns its length, negative if it is none.
func (f *Fields) next(b []byte) int {
	num, typ, n := ConsumeTag(b)
	if n < 0 {
		return n
	}
	f.num, f.typ, b = num, typ, b[n:]
	m := 0
	switch typ {
	case Varint:
		f.value, m = ConsumeVarint(b)
	case Bytes:
		f.data, m = ConsumeBytes(b)
	case Fixed32:
		if m = fixed(b, 4); m > 0 {
			f.value = uint64(binary.LittleEndian.Uint32(b))
		}
	case Fixed64:
		if m = fixed(b, 8); m > 0 {
			f.value = binary.LittleEndian.Uint64(b)
		}
	default:
		m = ConsumeValue(num, typ, b)
	}
	if m < 0 {
		return m
	}
	return n + m
}

// take reports whether the field at hand is num, of that type, and notes that it was there.
func (f *Fields) take(num Number, typ Type) bool {
	if f.phase != reading || f.num != num || f.typ != typ {
		return false
	}
	f.taken = true
	f.seen |= 1 << num
	return true
}

// Writing reports whether the message is being written.
func (f *Fields) Writing() bool { return f.phase == writing }

// Missed reports, once at the end of a message that is read, that field num was not there.
func (f *Fields) Missed(num Number) bool { return f.phase == ending && f.seen&(1<<num) == 0 }

// Ending reports that a message that is read is over.
func (f *Fields) Ending() bool { return f.phase == ending }

// Note says what is wrong with the value just taken of field num, or with nil that nothing is,
// whatever was said of an earlier one: the last counts. At the message's end it is refused.
func (f *Fields) Note(num Number, err error) {
	for i := f.first; i < len(f.notes); i++ {
		if f.notes[i].num == num {
			f.notes = append(f.notes[:i], f.notes[i+1:]...)
			break
		}
	}
	if err != nil {
		f.notes = append(f.notes, note{num, err})
	}
}

// Refuse ends the reading: nothing that may follow could make it right. The first counts.
func (f *Fields) Refuse(err error) {
	if f.refused == nil {
		f.refused = err
	}
}

// text checks one that is read or written.
func (f *Fields) text(valid bool) {
	if !valid && f.broken == nil {
		f.broken = ErrText
	}
}

func (f *Fields) validBytes(b []byte) { f.text(utf8.Valid(b)) }
func (f *Fields) validText(s string)  { f.text(utf8.ValidString(s)) }
