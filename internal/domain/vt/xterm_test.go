package vt

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// corpus returns the directory of recorded terminal input beside the checkout, or skips the test.
func corpus(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "..", "shared", "vt-corpus", name)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the corpus ../shared/vt-corpus/%s is not beside the checkout", name)
	}
	return dir
}

// rowText returns a row's text without trailing blanks.
func rowText(tm *Terminal, r *Row) string {
	var b []byte
	for _, c := range r.Cells() {
		if c.Rune() == 0 && !c.IsSpacer() {
			b = append(b, ' ')
		}
		b = tm.AppendCell(b, c)
	}
	return strings.TrimRight(string(b), " ")
}

func screenText(tm *Terminal) []string {
	_, rows := tm.Size()
	var out []string
	for y := range rows {
		out = append(out, rowText(tm, tm.Row(y)))
	}
	return out
}

func TestXtermPairs(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus(t, "xterm-esc"), "*.in"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".in")
		t.Run(name, func(t *testing.T) {
			in, err := os.ReadFile(file)
			require.NoError(t, err)
			want, err := os.ReadFile(strings.TrimSuffix(file, ".in") + ".text")
			require.NoError(t, err)
			tm := New(Options{Cols: 80, Rows: 25})
			tm.Write(bytes.ReplaceAll(in, []byte("\n"), []byte("\r\n")))
			var lines []string
			for line := range strings.SplitSeq(strings.TrimSuffix(string(want), "\n"), "\n") {
				lines = append(lines, strings.TrimRight(line, " "))
			}
			for len(lines) < 25 {
				lines = append(lines, "")
			}
			if excused("xterm-esc", name) != "" {
				require.NotEqual(t, lines, screenText(tm), "no exception any more")
				return
			}
			require.Equal(t, lines, screenText(tm))
		})
	}
}
