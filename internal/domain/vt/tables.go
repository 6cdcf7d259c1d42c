package vt

import (
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// Bounds of the side tables. When one is full the tables are swept, that is rebuilt from what the screens still show.
// If that leaves one more than half full, new entries are refused (a mark is dropped, a link not shown) until as many
// were refused as half the table holds: so a sweep costs a bounded amount for each entry, whatever a program prints.
const (
	maxClusters     = 1 << 15
	maxClusterBytes = 64 // of one cell; further code points of the cell are dropped
	maxSides        = sideMask
	maxLinks        = 1 << 14
	maxLinkBytes    = 4 << 10 // URI and id of one link; a longer one is no link
	maxLinksBytes   = 8 << 20 // of all links of a terminal
)

// side is what a cell of few programs has: an underline colour and a link (index into links, 0 none).
type side struct {
	underline Color
	link      uint32
}

// tables resolve what does not fit into a cell. Index 0 of sides and links means none.
type tables struct {
	clusters   []string
	clusterIDs map[string]uint32
	sides      []side
	sideIDs    map[side]uint16
	links      []Link
	linkIDs    map[string]uint32 // by linkKey
	key        []byte            // of a link being looked up
	linksBytes int
	// refused counts entries not taken since the last sweep that left a table more than half full; -1 when the last
	// sweep made enough room.
	refused int
}

func newTables() tables {
	return tables{
		clusterIDs: map[string]uint32{},
		sides:      make([]side, 1),
		sideIDs:    map[side]uint16{},
		links:      make([]Link, 1),
		linkIDs:    map[string]uint32{},
		refused:    -1,
	}
}

// cluster returns the number of the text, and false when the table is full.
func (tb *tables) cluster(text []byte) (uint32, bool) {
	if n, ok := tb.clusterIDs[string(text)]; ok {
		return n, true
	}
	if len(tb.clusters) >= maxClusters {
		return 0, false
	}
	n := uint32(len(tb.clusters))
	s := string(text)
	tb.clusters = append(tb.clusters, s)
	tb.clusterIDs[s] = n
	return n, true
}

// side returns the number of s, and false when the table is full.
func (tb *tables) side(s side) (uint16, bool) {
	if s == (side{}) {
		return 0, true
	}
	if n, ok := tb.sideIDs[s]; ok {
		return n, true
	}
	if len(tb.sides) > maxSides {
		return 0, false
	}
	n := uint16(len(tb.sides))
	tb.sides = append(tb.sides, s)
	tb.sideIDs[s] = n
	return n, true
}

// link returns the number of a link, and false when the table is full. An empty URI is 0. An id holds no semicolon.
func (tb *tables) link(uri, id []byte) (uint32, bool) {
	if len(uri) == 0 {
		return 0, true
	}
	tb.key = append(append(append(tb.key[:0], id...), ';'), uri...)
	if n, ok := tb.linkIDs[string(tb.key)]; ok {
		return n, true
	}
	size := len(uri) + len(id)
	if len(tb.links) > maxLinks || tb.linksBytes+size > maxLinksBytes {
		return 0, false
	}
	n := uint32(len(tb.links))
	key := string(tb.key)
	tb.links = append(tb.links, Link{URI: key[len(id)+1:], ID: key[:len(id)]})
	tb.linkIDs[key] = n
	tb.linksBytes += size
	return n, true
}

func (tb *tables) crowded() bool {
	return len(tb.clusters) > maxClusters/2 || len(tb.sides) > maxSides/2 || len(tb.links) > maxLinks/2 ||
		tb.linksBytes > maxLinksBytes/2
}

// makeRoom sweeps the tables if that is due, and reports whether trying again may help. Cells, the pen and saved pens
// are renumbered, so callers hold no cell across it.
func (t *Terminal) makeRoom() bool {
	if t.tables.refused >= 0 {
		t.tables.refused++
		if t.tables.refused < maxSides/2 {
			return false
		}
	}
	old := t.tables
	t.work += uint64(len(old.clusters) + len(old.sides) + len(old.links))
	t.tables = newTables()
	for _, s := range []*screen{&t.main, &t.alt} {
		for _, r := range s.rows {
			t.work += uint64(r.used)
			t.renumber(&old, r.cells[:r.used])
			r.ver = t.stamp
		}
		t.renumberCell(&old, &s.saved.pen)
	}
	t.renumberCell(&old, &t.pen)
	t.gen++
	t.changed = true
	if t.tables.crowded() {
		t.tables.refused = 0
	}
	return true
}

func (t *Terminal) renumber(old *tables, cells []Cell) {
	for i := range cells {
		if cells[i].ch()&clusterBit != 0 || cells[i].ext()&sideMask != 0 {
			t.renumberCell(old, &cells[i])
		}
	}
}

func (t *Terminal) renumberCell(old *tables, c *Cell) {
	if c.ch()&clusterBit != 0 {
		n, _ := t.tables.cluster([]byte(old.clusters[c.ch()&^clusterBit]))
		c.setCh(clusterBit | n)
	}
	if n := c.ext() & sideMask; n != 0 {
		s := old.sides[n]
		l := old.links[s.link]
		s.link, _ = t.tables.link([]byte(l.URI), []byte(l.ID))
		n, _ = t.tables.side(s)
		c.setExt(c.ext()&^sideMask | n)
	}
}

// internCluster is tables.cluster with a sweep when it is full.
func (t *Terminal) internCluster(text []byte) (uint32, bool) {
	n, ok := t.tables.cluster(text)
	if !ok && t.makeRoom() {
		n, ok = t.tables.cluster(text)
	}
	return n, ok
}

// setLinkBytes gives the pen a link, or none when uri is empty; without room it loses link and underline colour.
func (t *Terminal) setLinkBytes(uri, id []byte) {
	for {
		underline := t.tables.sides[t.pen.ext()].underline
		l, ok := t.tables.link(uri, id)
		if ok {
			var n uint16
			if n, ok = t.tables.side(side{underline, l}); ok {
				t.pen.setExt(n)
				return
			}
		}
		if !t.makeRoom() {
			t.pen.setExt(0)
			return
		}
	}
}

// setUnderlineColor gives the pen an underline colour; without room it loses link and underline colour.
func (t *Terminal) setUnderlineColor(c Color) {
	for {
		s := t.tables.sides[t.pen.ext()]
		s.underline = c
		n, ok := t.tables.side(s)
		if ok || !t.makeRoom() {
			t.pen.setExt(n)
			return
		}
	}
}

// AppendCell appends the cell's text: nothing for a blank that was never written and for the second half of a wide
// character.
func (t *Terminal) AppendCell(dst []byte, c Cell) []byte {
	switch {
	case c.ch() == 0:
		return dst
	case c.ch() < 0x80:
		return append(dst, byte(c.ch()))
	case c.ch()&clusterBit != 0:
		return append(dst, t.tables.clusters[c.ch()&^clusterBit]...)
	}
	return utf8.AppendRune(dst, rune(c.ch()))
}

// Link returns the cell's hyperlink; zero when it has none.
func (t *Terminal) Link(c Cell) Link { return t.tables.links[t.tables.sides[c.ext()&sideMask].link] }

// UnderlineColor returns the colour of the cell's underline; the default is the text's colour.
func (t *Terminal) UnderlineColor(c Cell) Color { return t.tables.sides[c.ext()&sideMask].underline }

// Style returns the cell's style as a value that means the same in every terminal.
func (t *Terminal) Style(c Cell) Style {
	s := Style{Fg: c.fg(), Bg: c.bg(), Attrs: c.Attrs()}
	if c.HasSide() {
		s.Underline, s.Link = t.UnderlineColor(c), t.Link(c)
	}
	return s
}

// ClusterWidth returns the columns that the cell's text takes when it is printed in grapheme mode.
func (t *Terminal) ClusterWidth(c Cell) int {
	if c.ch()&clusterBit == 0 {
		return RuneWidth(rune(c.ch()))
	}
	return clusterWidth([]byte(t.tables.clusters[c.ch()&^clusterBit]))
}

// oneCluster reports whether text is a single grapheme cluster (UAX 29).
func oneCluster(text []byte) bool {
	it := graphemes.FromBytes(text)
	return it.Next() && it.End() == len(text)
}
