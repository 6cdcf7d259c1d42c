package vt

import "sort"

const (
	// chunkBytes is the unit in which history memory is taken and freed. Line offsets in a chunk are 16 bits.
	chunkBytes = 64 << 10
	// offsetBytes is what each line takes at the chunk's end.
	offsetBytes = 2
	// defaultHistoryBytes is Options.HistoryBytes when it is 0.
	defaultHistoryBytes = 64 << 20
	minChunks           = 2
)

// history keeps the lines that left the main screen, packed (pack.go), in a queue of chunks. A line is pushed at the
// newest chunk's end and dropped by counting; a chunk all of whose lines are dropped becomes the next one.
type history struct {
	maxLines  uint64
	maxChunks int

	first  uint64 // number of the oldest kept line
	next   uint64 // number of the line after the newest: the main screen's first row
	chunks []*chunk
	spare  *chunk
	packed []byte // one line on its way
}

// chunk holds lines [first, first+n): their bytes from the front, their start offsets from the back.
type chunk struct {
	buf   [chunkBytes]byte
	first uint64
	n     int
	end   int
}

func newHistory(o Options) history {
	bytes := o.HistoryBytes
	if bytes <= 0 {
		bytes = defaultHistoryBytes
	}
	return history{maxLines: uint64(max(o.HistoryLines, 0)), maxChunks: max(bytes/chunkBytes, minChunks)}
}

// push appends the row as the newest line.
func (h *history) push(t *Terminal, r *Row) {
	if h.maxLines == 0 {
		h.next++
		h.first = h.next
		return
	}
	t.work += uint64(r.used)
	if r.plain {
		h.pushPlain(r)
	} else {
		h.packed = t.pack(h.packed[:0], r, chunkBytes-offsetBytes)
		t.work += uint64(len(h.packed) / 16) // as much as so many cells
		copy(h.room(len(h.packed)), h.packed)
	}
	h.next++
	if h.next-h.first > h.maxLines {
		h.first++
		h.dropEmpty()
	}
}

// pushPlain packs a row of ASCII in default style: a flag byte and its text.
func (h *history) pushPlain(r *Row) {
	n := r.keptEnd()
	dst := h.room(1 + n)
	dst[0] = r.packedFlags()
	dst = dst[1:]
	cells := r.cells[:n]
	for len(cells) >= 8 && len(dst) >= 8 {
		d, c := dst[:8:8], cells[:8:8]
		d[0], d[1], d[2], d[3] = byte(c[0].lo), byte(c[1].lo), byte(c[2].lo), byte(c[3].lo)
		d[4], d[5], d[6], d[7] = byte(c[4].lo), byte(c[5].lo), byte(c[6].lo), byte(c[7].lo)
		dst, cells = dst[8:], cells[8:]
	}
	for i, c := range cells {
		dst[i] = byte(c.lo)
	}
}

// room returns space for a line of n bytes, at most chunkBytes-offsetBytes, in the newest chunk.
func (h *history) room(n int) []byte {
	var c *chunk
	if len(h.chunks) > 0 {
		c = h.chunks[len(h.chunks)-1]
	}
	if c == nil || c.end+n+offsetBytes*(c.n+1) > chunkBytes {
		c = h.addChunk()
	}
	start := c.end
	at := chunkBytes - offsetBytes*(c.n+1)
	c.buf[at], c.buf[at+1] = byte(start), byte(start>>8)
	c.n++
	c.end += n
	return c.buf[start:c.end]
}

func (h *history) addChunk() *chunk {
	if len(h.chunks) >= h.maxChunks {
		h.first = h.chunks[0].first + uint64(h.chunks[0].n)
		h.dropEmpty()
	}
	c := h.spare
	h.spare = nil
	if c == nil {
		c = new(chunk)
	}
	c.first, c.n, c.end = h.next, 0, 0
	h.chunks = append(h.chunks, c)
	return c
}

// dropEmpty frees the oldest chunk when none of its lines is kept.
func (h *history) dropEmpty() {
	if len(h.chunks) == 0 {
		return
	}
	c := h.chunks[0]
	if h.first < c.first+uint64(c.n) {
		return
	}
	h.spare = c
	h.chunks = h.chunks[:copy(h.chunks, h.chunks[1:])]
}

// clear drops all lines.
func (h *history) clear() {
	h.first = h.next
	h.chunks, h.spare = nil, nil
}

// line returns the packed bytes of line n, first <= n < next.
func (h *history) line(n uint64) []byte {
	i := sort.Search(len(h.chunks), func(i int) bool { return h.chunks[i].first > n }) - 1
	c := h.chunks[i]
	return c.line(int(n - c.first))
}

func (c *chunk) offset(i int) int {
	at := chunkBytes - offsetBytes*(i+1)
	return int(c.buf[at]) | int(c.buf[at+1])<<8
}

func (c *chunk) line(i int) []byte { return c.buf[c.offset(i):c.lineEnd(i)] }

func (c *chunk) lineEnd(i int) int {
	if i+1 < c.n {
		return c.offset(i + 1)
	}
	return c.end
}

// pop removes the newest line, into dst. It reports false when there is none.
func (h *history) pop(t *Terminal, dst *Line) bool {
	if h.next == h.first {
		return false
	}
	h.next--
	c := h.chunks[len(h.chunks)-1]
	t.unpack(c.line(c.n-1), dst)
	c.n--
	c.end = c.offset(c.n)
	if c.n == 0 {
		h.chunks = h.chunks[:len(h.chunks)-1]
		h.spare = c
	}
	return true
}

// wrapped reports whether the newest line goes on in the screen's first row.
func (h *history) wrapped() bool {
	return h.next > h.first && h.line(h.next - 1)[0]&packedWrapped != 0
}

// FirstLine returns the number of the oldest line that is kept; it equals ScreenTop when there is no history.
func (t *Terminal) FirstLine() uint64 { return t.hist.first }

// ScreenTop returns the number of the main screen's first row: how many lines have scrolled off it. Row y of the main
// screen is line ScreenTop()+y. It falls only when a resize brings lines back onto the screen.
func (t *Terminal) ScreenTop() uint64 { return t.hist.next }

// HistoryBytesUsed returns the memory that the history holds, in bytes.
func (t *Terminal) HistoryBytesUsed() int {
	n := len(t.hist.chunks)
	if t.hist.spare != nil {
		n++
	}
	return n * chunkBytes
}

// Line is one line of history or of the main screen.
type Line struct {
	N uint64 // line number
	// Wrapped: the text goes on in line N+1.
	Wrapped bool
	edge    bool // the row had one more column, see hasEdge
	// Cells are the line's cells: of a wrapped line all that are text, of others up to the last that is not the zero Cell. They belong to the Line but resolve in the
	// Terminal, until its next Write or Resize.
	Cells []Cell
}

// ReadLine reads line n of the history or the main screen into dst, reusing its buffer. It reports false, and leaves
// dst alone, when the line is not kept (n < FirstLine) or does not exist yet (n >= ScreenTop plus the rows). History
// lines have the width they had when they left the screen.
func (t *Terminal) ReadLine(n uint64, dst *Line) bool {
	switch {
	case n < t.hist.first || n >= t.hist.next+uint64(t.nrows):
		return false
	case n < t.hist.next:
		t.unpack(t.hist.line(n), dst)
	default:
		r := t.main.rows[n-t.hist.next]
		dst.Cells = append(dst.Cells[:0], r.cells[:r.keptEnd()]...)
		dst.Wrapped = r.wrapped
	}
	dst.N = n
	return true
}
