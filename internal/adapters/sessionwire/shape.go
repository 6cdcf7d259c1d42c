package sessionwire

import (
	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
)

// A shape is what the bytes of one message may hold. Walking it before anything is made of
// them bounds what decoding can allocate and finds what protobuf would let pass: two variants
// of a oneof, a message given twice.
type shape struct {
	name   string
	fields fields
}

type field struct {
	name  string
	bytes int    // most bytes of one value; 0: a number
	count int    // most values of a repeated field; 0: not repeated
	total int    // most bytes of all values together; 0: no bound beside count and bytes
	of    *shape // a message: bytes is not used, the envelope bounds it
	union bool   // one of several variants
}

// tally is what walk has seen of one field.
type tally struct{ count, bytes int }

// walk returns a breach unless b keeps to s. Unknown fields are skipped.
func (s *shape) walk(b []byte) error {
	var seen [maxField + 1]tally
	variant := wirefmt.Number(0)
	for len(b) > 0 {
		num, typ, n := wirefmt.ConsumeTag(b)
		if n < 0 {
			return broken("%s cannot be read: %v", s.name, wirefmt.Reason(n))
		}
		b = b[n:]
		f := s.at(num)
		if f.union {
			if variant != 0 {
				return broken("%s holds two variants, %s and %s", s.name, s.fields[variant].name, f.name)
			}
			variant = num
		}
		if typ != wirefmt.Bytes || f.bytes == 0 && f.of == nil {
			n = wirefmt.ConsumeValue(num, typ, b)
			if n < 0 {
				return broken("%s cannot be read: %v", s.name, wirefmt.Reason(n))
			}
			b = b[n:]
			continue
		}
		value, n := wirefmt.ConsumeBytes(b)
		if n < 0 {
			return broken("%s of %s cannot be read: %v", f.name, s.name, wirefmt.Reason(n))
		}
		b = b[n:]
		if err := f.admit(s, &seen[num], value); err != nil {
			return err
		}
	}
	return nil
}

// at is the field of that number, or the zero field.
func (s *shape) at(num wirefmt.Number) field {
	if int(num) < len(s.fields) {
		return s.fields[num]
	}
	return field{}
}

// admit checks one more value of f.
func (f field) admit(s *shape, t *tally, value []byte) error {
	t.count++
	t.bytes += len(value)
	switch {
	case f.count > 0 && t.count > f.count:
		return tooMany(f.name+" of "+s.name, t.count, f.count)
	case f.count == 0 && f.of != nil && t.count > 1:
		return broken("%s of %s is given twice", f.name, s.name)
	case f.of == nil && len(value) > f.bytes:
		return tooLong(f.name+" of "+s.name, len(value), f.bytes)
	case f.total > 0 && t.bytes > f.total:
		return tooLong(f.name+" of "+s.name+", together,", t.bytes, f.total)
	case f.of != nil:
		return f.of.walk(value)
	}
	return nil
}
