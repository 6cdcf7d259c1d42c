package gallery

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain"
)

// Tiles are within the screen and beside each other, whatever the terminal and however many there are.
func TestTilesFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 2000).Draw(t, "tiles")
		size := domain.Size{Cols: rapid.IntRange(1, domain.MaxCols).Draw(t, "cols"), Rows: rapid.IntRange(1, domain.MaxRows).Draw(t, "rows")}
		g := layout(n, size)
		if n == 0 || size.Rows == footRows {
			require.Zero(t, g.shown())
			return
		}
		require.Positive(t, g.shown())
		require.LessOrEqual(t, g.shown(), maxTiles)
		require.LessOrEqual(t, g.across, n)
		var taken [][4]int
		for i := range g.shown() {
			col, row := g.place(i)
			require.LessOrEqual(t, col+g.width, size.Cols)
			require.LessOrEqual(t, row+g.height, size.Rows-footRows)
			for _, o := range taken {
				require.True(t, col >= o[0]+o[2] || col+g.width <= o[0] || row >= o[1]+o[3] || row+g.height <= o[1])
			}
			taken = append(taken, [4]int{col, row, g.width, g.height})
		}
		i := rapid.IntRange(0, n-1).Draw(t, "selected")
		first := g.scrolled(rapid.IntRange(0, n).Draw(t, "first"), i)
		require.GreaterOrEqual(t, i, first*g.across)
		require.Less(t, i, first*g.across+g.shown(), "the selected one is visible")
	})
}

func TestLayouts(t *testing.T) {
	for _, c := range []struct {
		n    int
		size domain.Size
		want grid
	}{
		{1, domain.Size{Cols: 80, Rows: 24}, grid{1, 1, 80, 23}},
		{2, domain.Size{Cols: 200, Rows: 30}, grid{2, 1, 99, 29}},
		{4, domain.Size{Cols: 161, Rows: 49}, grid{2, 2, 80, 24}},
		{9, domain.Size{Cols: 80, Rows: 24}, grid{3, 3, 26, 7}},
		{100, domain.Size{Cols: 80, Rows: 24}, grid{3, 3, 26, 7}},
		{5, domain.Size{Cols: 10, Rows: 3}, grid{1, 1, 10, 2}},
	} {
		require.Equal(t, c.want, layout(c.n, c.size), "%d at %s", c.n, c.size)
	}
}
