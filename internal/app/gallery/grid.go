package gallery

import "github.com/vev-term/vev/internal/domain"

const (
	// maxTiles bounds what is visible at once: each tile is an operation of the broker conversation.
	maxTiles = 48
	// A tile is at least that large, if the terminal is: its title and what is worth to be seen below.
	leastWidth  = 24
	leastHeight = 6
	gap         = 1 // columns between two tiles
	footRows    = 1
)

// grid is where tiles stand: across beside each other and down below each other, as many as are visible.
type grid struct {
	across, down  int
	width, height int // of a tile, its title included
}

// layout is the grid for n tiles that shows them as large as possible. It has no tile where not even one row fits.
func layout(n int, size domain.Size) grid {
	rows := size.Rows - footRows
	if n == 0 || rows < 1 {
		return grid{}
	}
	best := grid{}
	for across := 1; across <= n; across++ {
		width := (size.Cols - (across-1)*gap) / across
		if across > 1 && width < leastWidth {
			break
		}
		down := min((n+across-1)/across, max(1, rows/leastHeight), max(1, maxTiles/across))
		g := grid{across, down, width, rows / down}
		if g.better(best, n) {
			best = g
		}
	}
	return best
}

func (g grid) shown() int { return g.across * g.down }

// scale is how much of a usual terminal a tile shows, in percent of what it shows least of.
func (g grid) scale() int {
	if g.across == 0 {
		return 0
	}
	return min(100*g.width/domain.DefaultSize.Cols, 100*g.height/domain.DefaultSize.Rows)
}

// better reports whether g shows more of n tiles than o, or as many and them larger.
func (g grid) better(o grid, n int) bool {
	if a, b := min(g.shown(), n), min(o.shown(), n); a != b {
		return a > b
	}
	return g.scale() > o.scale()
}

// place is the column and row of the i-th visible tile, from 0.
func (g grid) place(i int) (col, row int) {
	return i % g.across * (g.width + gap), i / g.across * g.height
}

// body is the size of a tile's picture; not valid where there is no room for one.
func (g grid) body() domain.Size { return domain.Size{Cols: g.width, Rows: g.height - 1} }

// scrolled is the first visible row of tiles, moved as little as it takes to show tile i.
func (g grid) scrolled(first, i int) int {
	if g.across == 0 {
		return 0
	}
	row := i / g.across
	return max(min(first, row), row-g.down+1)
}
