package client

import (
	"encoding/binary"
	"strings"
	"unicode"

	"github.com/vev-term/vev/internal/protocol"
)

// Bounds of the lines that a client keeps. At either of the first two the pages that were used longest ago are dropped;
// what is dropped is asked for again when it is to be shown.
const (
	maxCacheLines = 200_000
	maxCacheBytes = 16 << 20
	pageLines     = 64
	pageBytes     = pageLines * 5 // of a page beside its data
	// maxPackedLine bounds one line's memory: links are left out of a longer one, then its styles.
	maxPackedLine = protocol.MaxLineBytes + 16<<10
	// maxWaste is what lines that were put again may leave behind in a page, beside as much as there is in it.
	maxWaste = 4 << 10
)

// lineCache keeps lines of the session by their number, packed. A stale line is shown until it was asked for again: a
// resize may have given its number to another.
type lineCache struct {
	pages map[uint64]*linePage // by number / pageLines
	lines int
	bytes int
	clock uint64
}

// linePage has room for pageLines lines with consecutive numbers.
type linePage struct {
	data  []byte
	at    [pageLines]uint32 // begin of the line in data, plus 1; 0: it is not there
	stale [pageLines]bool
	lines int
	live  int    // bytes of data that lines still are in
	used  uint64 // clock of the last use
}

// A packed line: flags, the text and its length before it, the number of runs, and for each the numbers of
// protocol.Run and the link.
const lineWrapped = 1

// cachedLine is a line of the cache, until the next put.
type cachedLine struct {
	text    []byte
	wrapped bool
	runs    []protocol.Run
}

// put keeps a line. Text from a peer is data: what is no text in it becomes a question mark.
func (c *lineCache) put(l *protocol.Line) {
	if c.pages == nil {
		c.pages = map[uint64]*linePage{}
	}
	p := c.pages[l.N/pageLines]
	if p == nil {
		p = &linePage{}
		c.pages[l.N/pageLines] = p
		c.bytes += pageBytes
	}
	i := l.N % pageLines
	if p.at[i] != 0 {
		p.live -= packedLen(p.data[p.at[i]-1:])
		p.at[i] = 0
		if len(p.data) > 2*p.live+maxWaste {
			c.compact(p)
		}
	} else {
		p.lines++
		c.lines++
	}
	before := cap(p.data)
	start := len(p.data)
	p.data = packLine(p.data, l)
	p.at[i], p.stale[i] = uint32(start)+1, false
	p.live += len(p.data) - start
	c.bytes += cap(p.data) - before
	c.touch(p)
	for (c.lines > maxCacheLines || c.bytes > maxCacheBytes) && len(c.pages) > 1 {
		c.dropOldest()
	}
}

func packLine(dst []byte, l *protocol.Line) []byte {
	start := len(dst)
	text := strings.Map(printableRune, l.Text)
	runs := l.Runs
	for links := true; ; links = false {
		dst = dst[:start]
		var flags byte
		if l.Wrapped {
			flags = lineWrapped
		}
		dst = append(dst, flags)
		dst = binary.AppendUvarint(dst, uint64(len(text)))
		dst = append(dst, text...)
		dst = binary.AppendUvarint(dst, uint64(len(runs)))
		for i := range runs {
			dst = packRun(dst, &runs[i], links)
		}
		if len(dst)-start <= maxPackedLine {
			return dst
		}
		if !links {
			runs = nil
		}
	}
}

func printableRune(r rune) rune {
	if unicode.IsControl(r) {
		return '?'
	}
	return r
}

func packRun(dst []byte, r *protocol.Run, links bool) []byte {
	for _, v := range [...]uint64{
		uint64(r.Col), uint64(r.Len), uint64(r.Fg), uint64(r.Bg), uint64(r.UnderlineColor), uint64(r.Underline), uint64(r.Attrs),
	} {
		dst = binary.AppendUvarint(dst, v)
	}
	link := r.Link
	if !links {
		link = ""
	}
	dst = binary.AppendUvarint(dst, uint64(len(link)))
	return append(dst, strings.Map(printableRune, link)...)
}

// compact drops what lines of the page that were put again have left behind.
func (c *lineCache) compact(p *linePage) {
	var data []byte
	for i, at := range p.at {
		if at != 0 {
			p.at[i] = uint32(len(data)) + 1
			data = append(data, p.data[at-1:at-1+uint32(packedLen(p.data[at-1:]))]...)
		}
	}
	c.bytes += cap(data) - cap(p.data)
	p.data = data
}

func packedLen(p []byte) int {
	var l cachedLine
	return len(p) - len(l.unpack(p))
}

// get reads line n into l, reusing its memory; false: it is not there.
func (c *lineCache) get(n uint64, l *cachedLine) bool {
	p := c.pages[n/pageLines]
	i := n % pageLines
	if p == nil || p.at[i] == 0 {
		return false
	}
	c.touch(p)
	l.unpack(p.data[p.at[i]-1:])
	return true
}

// keeps reports whether line n is there, stale or not.
func (c *lineCache) keeps(n uint64) bool {
	p := c.pages[n/pageLines]
	return p != nil && p.at[n%pageLines] != 0
}

// has reports whether line n is there and not stale.
func (c *lineCache) has(n uint64) bool {
	p := c.pages[n/pageLines]
	return p != nil && p.at[n%pageLines] != 0 && !p.stale[n%pageLines]
}

func (l *cachedLine) unpack(p []byte) (rest []byte) {
	l.wrapped = p[0]&lineWrapped != 0
	p = p[1:]
	next := func() uint64 {
		v, n := binary.Uvarint(p)
		p = p[n:]
		return v
	}
	text := next()
	l.text, p = p[:text:text], p[text:]
	l.runs = l.runs[:0]
	for range next() {
		r := protocol.Run{
			Col: int(next()), Len: int(next()), Fg: uint32(next()), Bg: uint32(next()), UnderlineColor: uint32(next()),
			Underline: uint8(next()), Attrs: protocol.RunAttrs(next()),
		}
		link := next()
		r.Link, p = string(p[:link]), p[link:]
		l.runs = append(l.runs, r)
	}
	return p
}

func (c *lineCache) touch(p *linePage) {
	c.clock++
	p.used = c.clock
}

func (c *lineCache) dropOldest() {
	var oldest uint64
	var found *linePage
	for n, p := range c.pages {
		if found == nil || p.used < found.used {
			oldest, found = n, p
		}
	}
	c.dropPage(oldest, found)
}

func (c *lineCache) dropPage(n uint64, p *linePage) {
	c.lines -= p.lines
	c.bytes -= cap(p.data) + pageBytes
	delete(c.pages, n)
}

// spoil makes the lines from number n on stale.
func (c *lineCache) spoil(n uint64) {
	for page, p := range c.pages {
		if page < n/pageLines {
			continue
		}
		for i := range p.stale {
			if page*pageLines+uint64(i) >= n {
				p.stale[i] = true
			}
		}
	}
}

// drop forgets the lines from number n on.
func (c *lineCache) drop(n uint64) {
	for page, p := range c.pages {
		if page < n/pageLines {
			continue
		}
		for i := range p.at {
			if page*pageLines+uint64(i) >= n && p.at[i] != 0 {
				p.live -= packedLen(p.data[p.at[i]-1:])
				p.at[i] = 0
				p.lines--
				c.lines--
			}
		}
		if p.lines == 0 {
			c.dropPage(page, p)
		}
	}
}
