package wirefmt

import "encoding/binary"

// number is any type that numbers of the wire are kept in.
type number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

func (f *Fields) varint(num Number, v uint64) {
	if v != 0 {
		f.out = AppendVarint(AppendTag(f.out, num, Varint), v)
	}
}

// Uint32 is a field of type uint32: of a wider value that is read, the low 32 bits.
func Uint32[T number](f *Fields, num Number, v *T) bool {
	if f.phase == writing {
		f.varint(num, uint64(uint32(*v)))
	} else if f.take(num, Varint) {
		*v = T(uint32(f.value))
		return true
	}
	return false
}

// Int32 is a field of type int32, written with its sign extended to 64 bits.
func Int32[T number](f *Fields, num Number, v *T) bool {
	if f.phase == writing {
		f.varint(num, uint64(int64(int32(*v))))
	} else if f.take(num, Varint) {
		*v = T(int32(uint32(f.value)))
		return true
	}
	return false
}

// Uint64 is a field of type uint64 or int64.
func Uint64[T ~int64 | ~uint64](f *Fields, num Number, v *T) bool {
	if f.phase == writing {
		f.varint(num, uint64(*v))
	} else if f.take(num, Varint) {
		*v = T(f.value)
		return true
	}
	return false
}

// Bool is a field of type bool.
func Bool(f *Fields, num Number, v *bool) bool {
	switch {
	case f.phase == writing:
		if *v {
			f.varint(num, 1)
		}
	case f.take(num, Varint):
		*v = f.value != 0
		return true
	}
	return false
}

// Fix32 is a field of type fixed32.
func Fix32(f *Fields, num Number, v *uint32) bool {
	switch {
	case f.phase == writing:
		if *v != 0 {
			f.out = binary.LittleEndian.AppendUint32(AppendTag(f.out, num, Fixed32), *v)
		}
	case f.take(num, Fixed32):
		*v = uint32(f.value)
		return true
	}
	return false
}

// Fix64 is a field of type fixed64.
func Fix64(f *Fields, num Number, v *uint64) bool {
	switch {
	case f.phase == writing:
		if *v != 0 {
			f.out = binary.LittleEndian.AppendUint64(AppendTag(f.out, num, Fixed64), *v)
		}
	case f.take(num, Fixed64):
		*v = f.value
		return true
	}
	return false
}

// Text is a field of type string.
func Text(f *Fields, num Number, v *string) bool {
	switch {
	case f.phase == writing:
		f.validText(*v)
		if *v != "" {
			f.out = append(f.head(num, len(*v)), *v...)
		}
	case f.take(num, Bytes):
		f.validBytes(f.data)
		*v = string(f.data)
		return true
	}
	return false
}

// Texts is a repeated field of type string.
func Texts(f *Fields, num Number, v *[]string) bool {
	if f.phase == writing {
		for _, s := range *v {
			f.validText(s)
			f.out = append(f.head(num, len(s)), s...)
		}
	} else if f.take(num, Bytes) {
		f.validBytes(f.data)
		*v = append(*v, string(f.data))
		return true
	}
	return false
}

// Data is a field of type bytes; nil when empty.
func Data(f *Fields, num Number, v *[]byte) bool {
	switch {
	case f.phase == writing:
		if len(*v) > 0 {
			f.out = append(f.head(num, len(*v)), *v...)
		}
	case f.take(num, Bytes):
		*v = append([]byte(nil), f.data...)
		return true
	}
	return false
}

// Exact is a field of type bytes that has one length only, that of to. When read with another,
// n, to becomes zero.
func Exact(f *Fields, num Number, to []byte) (n int, taken bool) {
	if f.phase == writing {
		f.out = append(f.head(num, len(to)), to...)
		return 0, false
	}
	if !f.take(num, Bytes) {
		return 0, false
	}
	clear(to)
	if len(f.data) == len(to) {
		copy(to, f.data)
	}
	return len(f.data), true
}

// Raw is a field of type bytes that is kept as a string, whatever it holds.
func Raw(f *Fields, num Number, v *string) bool {
	switch {
	case f.phase == writing:
		if *v != "" {
			f.out = append(f.head(num, len(*v)), *v...)
		}
	case f.take(num, Bytes):
		*v = string(f.data)
		return true
	}
	return false
}

// Raws is a repeated field of type bytes, kept as Raw does.
func Raws(f *Fields, num Number, v *[]string) bool {
	if f.phase == writing {
		for _, s := range *v {
			f.out = append(f.head(num, len(s)), s...)
		}
	} else if f.take(num, Bytes) {
		*v = append(*v, string(f.data))
		return true
	}
	return false
}

// head appends what stands in front of n bytes.
func (f *Fields) head(num Number, n int) []byte {
	return AppendVarint(AppendTag(f.out, num, Bytes), uint64(n))
}
