package wirefmt

import "fmt"

// Message is a field that is a message of its own, at m. When writing, send says whether it is
// there; when reading, m is filled.
func Message[T any](f *Fields, num Number, send bool, m *T, visit func(*Fields, *T)) bool {
	if f.phase == writing {
		if send {
			appendMessage(f, num, m, visit)
		}
		return false
	}
	if !f.once(num) {
		return false
	}
	readMessage(f, f.data, m, visit)
	return true
}

// Optional is a field that is a message of its own, nil where it is not there.
func Optional[T any](f *Fields, num Number, m **T, visit func(*Fields, *T)) bool {
	if f.phase == writing {
		if *m != nil {
			appendMessage(f, num, *m, visit)
		}
		return false
	}
	if !f.once(num) {
		return false
	}
	*m = new(T)
	readMessage(f, f.data, *m, visit)
	return true
}

// Messages is a repeated field of messages. When reading, over is asked, before anything is
// allocated, whether so many may be given; nil: however many.
func Messages[T any](f *Fields, num Number, list *[]T, over func(n int) error, visit func(*Fields, *T)) {
	if f.phase == writing {
		for i := range *list {
			appendMessage(f, num, &(*list)[i], visit)
		}
		return
	}
	if !f.take(num, Bytes) {
		return
	}
	if len(*list) == 0 {
		n := 1 + count(f.rest, num)
		if over != nil {
			if err := over(n); err != nil {
				f.Refuse(err)
				return
			}
		}
		*list = make([]T, 0, n)
	}
	*list = append(*list, *new(T))
	readMessage(f, f.data, &(*list)[len(*list)-1], visit)
}

// count is how often the messages of a field come in b, up to where it cannot be read.
func count(b []byte, num Number) (times int) {
	for len(b) > 0 {
		got, typ, n := ConsumeTag(b)
		if n < 0 {
			break
		}
		m := ConsumeValue(got, typ, b[n:])
		if m < 0 {
			break
		}
		if got == num && typ == Bytes {
			times++
		}
		b = b[n+m:]
	}
	return times
}

// Variant is a field of a oneof that is kept as a *T in *body, which is nil where there is none
// or one of a newer peer.
func Variant[T, I any](f *Fields, num Number, body *I, visit func(*Fields, *T)) {
	if f.phase == writing {
		if m, ok := any(*body).(*T); ok {
			appendMessage(f, num, m, visit)
		}
		return
	}
	if f.variant(num, any(*body) != nil) {
		m := new(T)
		readMessage(f, f.data, m, visit)
		*body = any(m).(I)
	}
}

// Value is Variant for what is kept as a T.
func Value[T, I any](f *Fields, num Number, body *I, visit func(*Fields, *T)) {
	if f.phase == writing {
		if m, ok := any(*body).(T); ok {
			appendMessage(f, num, &m, visit)
		}
		return
	}
	if f.variant(num, any(*body) != nil) {
		m := new(T)
		readMessage(f, f.data, m, visit)
		*body = any(*m).(I)
	}
}

// Empty describes a message without fields.
func Empty[T any](*Fields, *T) {}

// once takes a message that may be given once.
func (f *Fields) once(num Number) bool {
	before := f.seen
	if !f.take(num, Bytes) {
		return false
	}
	if before&(1<<num) != 0 {
		f.Refuse(fmt.Errorf("field %d is given twice", num))
		return false
	}
	return true
}

func (f *Fields) variant(num Number, another bool) bool {
	if !f.take(num, Bytes) {
		return false
	}
	if another {
		f.Refuse(fmt.Errorf("field %d is a second variant", num))
		return false
	}
	return true
}

// appendMessage writes the message and then its length, for which it has left one byte: more
// are needed seldom, and moving is cheaper than going through everything twice.
func appendMessage[T any](f *Fields, num Number, m *T, visit func(*Fields, *T)) {
	f.out = append(AppendTag(f.out, num, Bytes), 0)
	start := len(f.out)
	visit(f, m)
	n := len(f.out) - start
	if n < 0x80 {
		f.out[start-1] = byte(n)
		return
	}
	size := SizeVarint(uint64(n))
	f.out = append(f.out, make([]byte, size-1)...)
	copy(f.out[start-1+size:], f.out[start:start+n])
	AppendVarint(f.out[:start-1], uint64(n))
}
