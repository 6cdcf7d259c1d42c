package streamframe

import "encoding/binary"

// Pending reports whether the next frame was read ahead whole, so that Next and Body would
// not wait for the source. It reads nothing itself. Frames larger than the read-ahead, and
// those that still lie in the source, are not seen.
func (f *Reader) Pending() bool {
	ahead := f.buf[f.r:f.w]
	if f.left > 0 || len(ahead) < HeaderBytes {
		return false
	}
	return uint64(len(ahead)-HeaderBytes) >= uint64(binary.BigEndian.Uint32(ahead))
}
