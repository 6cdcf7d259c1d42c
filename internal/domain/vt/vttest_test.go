package vt

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVttest compares the screens of recorded vttest menus with those of the terminals they were recorded from.
func TestVttest(t *testing.T) {
	dir := corpus(t, "vttest")
	for _, name := range []string{"1-cursor", "2-screen", "8-vt102"} {
		in, err := os.ReadFile(filepath.Join(dir, name+".vt"))
		require.NoError(t, err)
		b, err := os.ReadFile(filepath.Join(dir, name+".json"))
		require.NoError(t, err)
		var rec struct {
			Cols, Rows  int
			Checkpoints []struct {
				At, X, Y int
				Lines    []string
			}
		}
		require.NoError(t, json.Unmarshal(b, &rec))
		tm := New(Options{Cols: 80, Rows: 24})
		at := 0
		for i, c := range rec.Checkpoints {
			tm.Write(in[at:c.At])
			at = c.At
			for y := range c.Lines {
				c.Lines[y] = strings.TrimRight(c.Lines[y], " ")
			}
			require.Equal(t, c.Lines, screenText(tm), "%s, checkpoint %d", name, i)
			x, y := tm.reportedCursor()
			require.Equal(t, c.X, x-1, "%s, checkpoint %d", name, i)
			if y-1 != c.Y {
				require.Equal(t, c.Y, tm.Cursor().Row, "%s, checkpoint %d", name, i)
			}
		}
	}
}
