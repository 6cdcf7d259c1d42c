package render

import "github.com/vev-term/vev/internal/domain/vt"

const (
	// minScrollGain is how many rows a scroll must save; fewer are painted.
	minScrollGain = 2
	// maxScrolls bounds the scrolls of one paint.
	maxScrolls = 4
)

// scroll moves rows of the terminal that the frame shows in other places, all in
// [first, last). Rows tell by their ids where they were.
func (p *Painter) scroll(dst []byte, f *Frame, first, last int) []byte {
	y := first
	for range maxScrolls {
		var b block
		if b, y = p.nextBlock(f, y, first, last); b.n == 0 {
			break
		}
		if p.gain(f, b) >= minScrollGain {
			dst = p.scrollBlock(dst, b)
		}
	}
	return dst
}

// block is n rows that the frame shows from row to on and the terminal from row from on.
type block struct{ from, to, n int }

// nextBlock returns the first block at row y or below that moves within [first, last), and the row behind it.
func (p *Painter) nextBlock(f *Frame, y, first, last int) (block, int) {
	for ; y < last; y++ {
		key := f.key(y)
		if key.t == nil || key.sameRow(p.shadow[y].key) {
			continue
		}
		from := p.find(key, first, last)
		if from < 0 {
			continue
		}
		b := block{from: from, to: y, n: 1}
		for y+b.n < last && from+b.n < last && f.key(y+b.n).sameRow(p.shadow[from+b.n].key) {
			b.n++
		}
		return b, y + b.n
	}
	return block{}, y
}

// find returns the row in [first, last) in which the terminal shows the row of that key, -1 when it does not. Ids rise,
// so most new rows are known to be new at once.
func (p *Painter) find(key rowKey, first, last int) int {
	if key.id > p.newest {
		return -1
	}
	for y := first; y < last; y++ {
		if key.sameRow(p.shadow[y].key) {
			return y
		}
	}
	return -1
}

// gain returns how many rows of the block would have to be painted where they are to go.
func (p *Painter) gain(f *Frame, b block) int {
	n := 0
	for i := range b.n {
		cells := f.cells(b.to+i, &p.line)
		if differs(cells, p.shadow[b.to+i].cells, 0) < len(cells) {
			n++
		}
	}
	return n
}

// scrollBlock scrolls the terminal so that the block is in its place, and the shadow with it.
func (p *Painter) scrollBlock(dst []byte, b block) []byte {
	d := b.from - b.to
	top, bot := min(b.from, b.to), max(b.from, b.to)+b.n-1
	dst = p.setStyle(dst, nil, vt.Cell{}) // rows come in blank
	whole := top == 0 && bot == p.rows-1
	if !whole {
		dst = appendCSIPair(dst, top+1, bot+1, 'r')
	}
	switch {
	case p.inline > 0 && top == 0 && d > 0: // a deleted line goes to no history
		dst = append(dst, "\x1b[H"...)
		dst = appendCSI(dst, d, 'M')
		p.x, p.y, p.xKnown, p.yKnown, p.pending, p.joins = 0, 0, true, true, false, false
	case p.caps.Basic:
		dst = p.scrollByLine(dst, top, bot, d)
	case d > 0:
		dst = appendCSI(dst, d, 'S')
	default:
		dst = appendCSI(dst, -d, 'T')
	}
	if !whole {
		dst = append(dst, "\x1b[r"...)
		p.xKnown, p.yKnown = false, false // setting margins moves the cursor home
		p.pending = false
	}
	p.rotate(top, bot, d)
	return dst
}

// scrollByLine scrolls by moving over a margin, which every terminal can.
func (p *Painter) scrollByLine(dst []byte, top, bot, d int) []byte {
	p.joins, p.pending = false, false
	p.xKnown, p.yKnown = true, true
	p.x = 0
	if d > 0 {
		dst = appendPosition(dst, 0, bot)
		p.y = bot
	} else {
		dst = appendPosition(dst, 0, top)
		p.y = top
	}
	for range max(d, -d) {
		if d > 0 {
			dst = append(dst, '\n')
		} else {
			dst = append(dst, "\x1bM"...)
		}
	}
	return dst
}

// rotate moves the shadow's rows top..bot up by d, down when it is negative; blank ones come in.
func (p *Painter) rotate(top, bot, d int) {
	rows := p.shadow[top : bot+1]
	n := d
	if n < 0 {
		n = len(rows) + d
	}
	p.spare = append(p.spare[:0], rows[:n]...)
	copy(rows, rows[n:])
	copy(rows[len(rows)-n:], p.spare)
	if d > 0 {
		rows = rows[len(rows)-d:]
	} else {
		rows = rows[:-d]
	}
	for i := range rows {
		rows[i].blank()
	}
}

func appendCSIPair(dst []byte, a, b int, final byte) []byte {
	dst = append(appendInt(append(dst, "\x1b["...), a), ';')
	return append(appendInt(dst, b), final)
}
