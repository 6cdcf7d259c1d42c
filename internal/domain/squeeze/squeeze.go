package squeeze

// Append appends what stands for p to dst; the model has learned p then.
func (m *Model) Append(dst, p []byte) []byte {
	m.begin()
	low, high := uint32(0), ^uint32(0)
	start := len(dst)
	for _, b := range p {
		for i := 7; i >= 0; i-- {
			bit := uint32(b>>i) & 1
			middle := split(low, high, m.guess())
			if bit == 1 {
				high = middle
			} else {
				low = middle + 1
			}
			m.learn(bit)
			for (low^high)>>24 == 0 {
				dst = append(dst, byte(high>>24))
				low, high = low<<8, high<<8|0xff
			}
		}
	}
	dst = appendLast(dst, low, high)
	for len(dst) > start && dst[len(dst)-1] == 0 {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// split divides the numbers from low to high by the odds of a one.
func split(low, high uint32, odds int32) uint32 {
	return low + uint32(uint64(high-low)*uint64(odds)>>12)
}

// appendLast appends the fewest bytes of a number from low to high, whose rest is zeros.
func appendLast(dst []byte, low, high uint32) []byte {
	for n := 0; n < 4; n++ {
		rest := uint64(1)<<(32-8*n) - 1
		v := (uint64(low) + rest) &^ rest
		if v <= uint64(high) {
			for i := range n {
				dst = append(dst, byte(v>>(24-8*i)))
			}
			return dst
		}
	}
	return append(dst, byte(low>>24), byte(low>>16), byte(low>>8), byte(low))
}

// Expand appends to dst what code stands for. size says from the bytes so far how many there are in all, 0: it takes more to
// know, negative: there are none such. ok is false where size says so or code has more bytes than it takes.
func (m *Model) Expand(dst, code []byte, size func(head []byte) int) (out []byte, ok bool) {
	m.begin()
	in := reader{code: code}
	for range 4 {
		in.value = in.value<<8 | uint32(in.next())
	}
	low, high := uint32(0), ^uint32(0)
	start, total := len(dst), 0
	for total == 0 || len(dst)-start < total {
		for range 8 {
			middle := split(low, high, m.guess())
			bit := uint32(0)
			if in.value <= middle {
				bit, high = 1, middle
			} else {
				low = middle + 1
			}
			m.learn(bit)
			for (low^high)>>24 == 0 {
				in.value = in.value<<8 | uint32(in.next())
				low, high = low<<8, high<<8|0xff
			}
		}
		dst = append(dst, byte(m.before))
		if total == 0 {
			if total = size(dst[start:]); total < 0 {
				return dst, false
			}
		}
	}
	return dst, len(in.code) == 0
}

// reader has the bytes of a code, and zeros behind.
type reader struct {
	code  []byte
	value uint32 // the four bytes at hand
}

func (r *reader) next() byte {
	if len(r.code) == 0 {
		return 0
	}
	b := r.code[0]
	r.code = r.code[1:]
	return b
}
