package vt

import (
	"bytes"
	"encoding/binary"
	"math"
	"regexp/syntax"
	"sort"
	"strings"
	"unicode/utf8"
)

// maxProbes bounds the texts that are looked for; an expression with more alternatives has none.
const maxProbes = 16

// sieve tells which pieces may match: every match has one of the probes, if there are any.
type sieve struct {
	probes [][]byte
	spaces bool  // a probe has some, for which a blank counts
	fold   bool  // the probes are for text with ASCII letters in lower case
	at     []int // of each probe, where it is next
}

// probe is a text that a match has, with fold in lower case: ASCII letters of either case count.
type probe struct {
	text string
	fold bool
}

func newSieve(tree *syntax.Regexp) sieve {
	var v sieve
	for _, p := range required(tree) {
		v.fold = v.fold || p.fold
		v.spaces = v.spaces || strings.Contains(p.text, " ")
		v.probes = append(v.probes, []byte(p.text))
	}
	if !v.fold {
		return v
	}
	all := bytes.Join(v.probes, nil)
	for _, p := range v.probes {
		lowerASCII(p)
	}
	// The letters beyond ASCII that are another case of one within: what has them may match.
	if bytes.ContainsAny(all, "kK") {
		v.probes = append(v.probes, []byte("\u212a"))
	}
	if bytes.ContainsAny(all, "sS") {
		v.probes = append(v.probes, []byte("\u017f"))
	}
	return v
}

// required returns texts of which every match of re has one, long ones that are easily found; none when there are none.
func required(re *syntax.Regexp) []probe {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return []probe{{string(re.Rune), false}}
		}
		if isASCII(re.Rune) {
			return []probe{{string(re.Rune), true}}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpConcat:
		var best []probe
		for _, sub := range re.Sub {
			if all := required(sub); shortest(all) > shortest(best) {
				best = all
			}
		}
		return best
	case syntax.OpAlternate:
		var all []probe
		for _, sub := range re.Sub {
			one := required(sub)
			if len(one) == 0 || len(all)+len(one) > maxProbes {
				return nil
			}
			all = append(all, one...)
		}
		return all
	}
	return nil
}

func isASCII(text []rune) bool {
	for _, r := range text {
		if r >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// shortest returns the length of the shortest probe, 0 without any.
func shortest(all []probe) int {
	n := math.MaxInt
	for _, p := range all {
		n = min(n, len(p.text))
	}
	if len(all) == 0 {
		return 0
	}
	return n
}

// next returns where the text has a probe, at or behind from, and len(text) when it has none there. Within one text from
// never falls; it begins at 0.
func (v *sieve) next(text []byte, from int) int {
	if from == 0 {
		v.at = v.at[:0]
		for range v.probes {
			v.at = append(v.at, -1)
		}
	}
	next := len(text)
	for i, p := range v.probes {
		if v.at[i] < from {
			v.at[i] = len(text)
			if k := bytes.Index(text[from:], p); k >= 0 {
				v.at[i] = from + k
			}
		}
		next = min(next, v.at[i])
	}
	return next
}

// block is the text of successive pieces, prepared for the sieve: searching it as a whole costs little for a piece.
type block struct {
	text    []byte
	strides []stride
	may     []uint64 // first rows of the pieces that may match
}

// stride is a piece in a block, or more of a row each, which follow each other in a chunk: they are in the text as they
// are packed, each behind its flags.
type stride struct {
	at    int    // where the text of the first begins
	row   uint64 // the row that the first begins in
	more  int    // beside the first
	chunk *chunk
	line  int // the first's place in the chunk
}

// fill makes the pieces from row n on the block, until one has row end-1 or the text has limit bytes. It returns the row
// that the next piece begins in.
func (s *Search) fill(n, end uint64, limit int) uint64 {
	b := &s.block
	b.text, b.strides = b.text[:0], b.strides[:0]
	for n < end && len(b.text) < limit {
		st := stride{at: len(b.text), row: n}
		if n < s.t.hist.next {
			c, i := s.chunkOf(n)
			most := int(min(end, s.t.hist.next, c.first+uint64(c.n)) - n)
			if k := c.plainLines(i, most, limit-len(b.text)); k > 0 {
				st.chunk, st.line, st.more = c, i, k-1
				text := c.buf[c.offset(i)+1 : c.lineEnd(i+k-1)]
				s.spent += k*rowCost + len(text)/plainBytes
				b.text = append(b.text, text...)
				n += uint64(k)
			} else if k := s.fillStyled(c, i, most, limit); k > 0 {
				n += uint64(k)
				continue
			}
		}
		if st.chunk == nil {
			b.text, n = s.appendPiece(b.text, n)
		}
		b.text = append(b.text, '\n')
		b.strides = append(b.strides, st)
	}
	return n
}

// fillStyled makes lines of a chunk from line i on pieces of the block: at most that many with styles that do not go on. It
// returns how many.
func (s *Search) fillStyled(c *chunk, i, most, limit int) (n int) {
	b := &s.block
	for ; n < most && len(b.text) < limit; n++ {
		p := c.line(i + n)
		if p[0]&(packedStyled|packedWrapped) != packedStyled {
			break
		}
		b.strides = append(b.strides, stride{at: len(b.text), row: c.first + uint64(i+n)})
		b.text = append(s.appendRowText(b.text, p), '\n')
	}
	return n
}

// plainLines returns how many of the lines from i on are without styles and do not go on: at most that many, of about
// size bytes.
func (c *chunk) plainLines(i, most, size int) (n int) {
	start := c.offset(i)
	for n < most {
		at := c.offset(i + n)
		if c.buf[at]&(packedStyled|packedWrapped) != 0 || at-start > size {
			break
		}
		n++
	}
	return n
}

// pieceAt returns the first row of the piece with the text at an offset, and where the text of the next begins.
func (b *block) pieceAt(at int) (row uint64, next int) {
	k := sort.Search(len(b.strides), func(k int) bool { return b.strides[k].at > at }) - 1
	st, next := b.strides[k], len(b.text)
	if k+1 < len(b.strides) {
		next = b.strides[k+1].at
	}
	if st.more == 0 {
		return st.row, next
	}
	move := st.chunk.offset(st.line) + 1 - st.at // from places in the text to those in the chunk
	i := sort.Search(st.more, func(i int) bool { return st.chunk.offset(st.line+1+i) > at+move })
	if i < st.more {
		next = st.chunk.offset(st.line+1+i) - move
	}
	return st.row + uint64(i), next
}

// line returns the text of a piece: one of those in a stride.
func (b *block) line(i, k int) []byte {
	st, end := b.strides[i], len(b.text)-1
	if i+1 < len(b.strides) {
		end = b.strides[i+1].at - 1
	}
	if st.more == 0 {
		return b.text[st.at:end]
	}
	move := st.chunk.offset(st.line) + 1 - st.at // from places in the text to those in the chunk
	if k < st.more {
		end = st.chunk.offset(st.line+k+1) - move
	}
	return b.text[st.chunk.offset(st.line+k)+1-move : end]
}

// blockStart returns the first row of a block with the rows before above: about limit bytes of text.
func (s *Search) blockStart(above uint64, limit int) uint64 {
	n := above - 1
	for size := 0; n > s.t.hist.first; n-- {
		s.spent += rowCost
		if size += len(s.row(n)); size >= limit {
			break
		}
	}
	return s.pieceStart(n)
}

// candidates returns the first rows of those pieces of the block that may match.
func (s *Search) candidates() []uint64 {
	b := &s.block
	b.may = b.may[:0]
	s.machine.left = machineWork
	if len(s.sieve.probes) == 0 {
		s.spent += len(b.text)
		for i := range b.strides {
			for k := range b.strides[i].more + 1 {
				if s.machine.may(b.line(i, k)) {
					b.may = append(b.may, b.strides[i].row+uint64(k))
				}
			}
		}
		s.spent += machineWork - s.machine.left
		return b.may
	}
	if s.sieve.spaces {
		blanksToSpaces(b.text)
	}
	if s.sieve.fold {
		lowerASCII(b.text)
	}
	for at := s.sieve.next(b.text, 0); at < len(b.text); {
		row, next := b.pieceAt(at)
		b.may = append(b.may, row)
		at = s.sieve.next(b.text, next)
	}
	return b.may
}

// lowerASCII makes capital ASCII letters small, eight bytes at a time.
func lowerASCII(b []byte) {
	const ones = 0x0101010101010101
	for ; len(b) >= 8; b = b[8:] {
		v := binary.LittleEndian.Uint64(b)
		low := v &^ (ones * 0x80)
		// The high bit of a byte: at least 'A', but not more than 'Z', and ASCII.
		capital := (low + ones*(0x80-'A')) &^ (low + ones*(0x80-'Z'-1)) &^ v & (ones * 0x80)
		binary.LittleEndian.PutUint64(b, v|capital>>2)
	}
	for i, c := range b {
		if c-'A' < 26 {
			b[i] = c | 0x20
		}
	}
}
