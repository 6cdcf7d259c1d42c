package squeeze

const (
	// contexts is how many guesses a bit has, each from another part of what came before it.
	contexts = 6
	// slots are those of each context's table: what does not fit shares them.
	slots = 1 << 16
	// settled is the number of bits after which a slot forgets as fast as it learns.
	settled = 12
	// half is even odds, of whole.
	half, whole = 1 << 11, 1 << 12
)

// Model guesses the next bit from those before it and learns from each. Two models that were given the same bytes make the
// same guesses: all is whole numbers. It is for one goroutine at a time; about 800 KiB.
type Model struct {
	tables  [contexts][slots]uint16 // odds of a one in the upper 12 bits, how often the slot was met below
	weights [contexts + 1][contexts]int32
	stretch [whole]int16

	before uint64 // the last bytes of the envelope, the newest lowest

	// Of the byte at hand.
	bits  uint32 // a one, and the bits of the byte that are known
	place [contexts]uint32

	// Of the bit at hand.
	at   [contexts]*uint16
	said [contexts]int32
	set  *[contexts]int32
	odds int32
}

// New returns a model that has seen nothing.
func New() *Model {
	m := new(Model)
	for i := range m.tables {
		for j := range m.tables[i] {
			m.tables[i][j] = half << 4
		}
	}
	for i := range m.weights {
		for j := range m.weights[i] {
			m.weights[i][j] = firstWeight
		}
	}
	for p, x := int32(0), int32(-extreme); x <= extreme; x++ {
		for ; p <= squash(x); p++ {
			m.stretch[p] = int16(x)
		}
	}
	return m
}

// extreme bounds the logarithm of odds, in units of 1/256.
const extreme = 2047

const (
	firstWeight = 1 << 16 * 3 / 10 // of 1<<16
	learning    = 10
)

// curve is 4096/(1+exp(-x)) for x from -8 to 8 by halves.
var curve = [33]int32{
	1, 2, 4, 6, 10, 17, 27, 45, 74, 120, 194, 311, 488, 747, 1102, 1546, 2048,
	2550, 2994, 3349, 3608, 3785, 3902, 3976, 4022, 4051, 4069, 4079, 4086, 4090, 4092, 4094, 4095,
}

// squash turns the logarithm of odds into odds.
func squash(x int32) int32 {
	x = max(-extreme, min(x, extreme))
	i, part := (x+extreme+1)>>7, (x+extreme+1)&127
	return (curve[i]*(128-part) + curve[i+1]*part + 64) >> 7
}

// begin forgets the bytes before: an envelope has the odds of its own place.
func (m *Model) begin() {
	m.before = 0
	m.byteAhead()
}

// multiplier spreads a context over its table.
const multiplier = 0x9E3779B97F4A7C15

// byteAhead finds the places of the contexts of the next byte.
func (m *Model) byteAhead() {
	m.bits = 1
	for i, mask := range masks {
		m.place[i] = uint32(((m.before & mask) + uint64(i+1)) * multiplier >> 32)
	}
}

// masks are what of the bytes before a context knows.
var masks = [contexts]uint64{
	0xff, 0xffff, 0xff_ffff, 0xffff_ffff, 0xff_ffff_ffff, 0xffff_ff00,
}

// guess returns the odds of a one, 1 to 4095 of 4096.
func (m *Model) guess() int32 {
	met := 0
	for i := range contexts {
		s := &m.tables[i][(m.place[i]+m.bits*0x2F0B4C47)>>16]
		m.at[i] = s
		m.said[i] = int32(m.stretch[*s>>4])
		if *s&15 != 0 {
			met++
		}
	}
	m.set = &m.weights[met]
	sum := int64(0)
	for i, w := range m.set {
		sum += int64(w) * int64(m.said[i])
	}
	m.odds = max(1, min(squash(int32(max(-extreme, min(sum>>16, extreme)))), whole-1))
	return m.odds
}

// learn is told what the bit was that was guessed.
func (m *Model) learn(bit uint32) {
	wrong := (int32(bit)<<12 - m.odds) * learning
	for i := range m.set {
		m.set[i] += (m.said[i]*wrong + 1<<13) >> 14
	}
	for _, s := range m.at {
		n := int32(*s & 15)
		p := int32(*s >> 4)
		p += ((int32(bit)*(whole-1) - p) * rates[n]) >> 16
		if n < settled {
			n++
		}
		*s = uint16(p<<4 | n)
	}
	m.bits = m.bits<<1 | bit
	if m.bits >= 256 {
		m.before = m.before<<8 | uint64(m.bits&0xff)
		m.byteAhead()
	}
}

// rates are 65536/(n+1.5).
var rates = [settled + 1]int32{
	43691, 26214, 18725, 14564, 11916, 10082, 8738, 7710, 6899, 6242, 5699, 5243, 4855,
}
