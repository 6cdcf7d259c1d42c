package vt

import (
	"bufio"
	"encoding/hex"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// addSeeds gives the fuzzer what others found, where the corpus is beside the checkout, and a few inputs of our own.
func addSeeds(f *testing.F) {
	for _, c := range bugCases {
		f.Add([]byte(c.in), uint16(len(c.in)))
	}
	for _, name := range []string{"stream-initial.hex", "stream-cmin.hex"} {
		file, err := os.Open(filepath.Join("..", "..", "..", "..", "shared", "vt-corpus", "ghostty-fuzz", name))
		if err != nil {
			continue
		}
		defer file.Close()
		s := bufio.NewScanner(file)
		s.Buffer(nil, 1<<20)
		for n := 0; s.Scan(); n++ {
			if b, err := hex.DecodeString(s.Text()); err == nil && (n%5 == 0 || fuzzing()) {
				f.Add(b, uint16(len(b)))
			}
		}
	}
}

// fuzzing reports whether this run fuzzes; others run a part of the seeds.
func fuzzing() bool {
	f := flag.Lookup("test.fuzz")
	return f != nil && f.Value.String() != ""
}

// FuzzParser: no input panics, breaks an invariant, costs more than its bytes explain, or leaves a state that tells
// how it was cut.
func FuzzParser(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, in []byte, seed uint16) {
		rnd := rand.New(rand.NewPCG(uint64(seed), 7))
		o := Options{Cols: 1 + rnd.IntN(40), Rows: 1 + rnd.IntN(12), HistoryLines: 20}
		one, cut := New(o), New(o)
		one.Write(in)
		for i := range in {
			cut.Write(in[i : i+1])
		}
		checkInvariants(t, one)
		require.LessOrEqual(t, one.work, mostWork(o, len(in)))
		if !reflect.DeepEqual(whole(one), whole(cut)) {
			require.Equal(t, whole(one), whole(cut))
		}
	})
}

// FuzzTerminal: the same with sizes that change in between, in pieces of any length, and as to memory.
func FuzzTerminal(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, in []byte, seed uint16) {
		rnd := rand.New(rand.NewPCG(uint64(seed), 5))
		size := func() (cols, rows int) { return 1 + rnd.IntN(40), 1 + rnd.IntN(12) }
		o := Options{HistoryLines: 20}
		o.Cols, o.Rows = size()
		one, cut := New(o), New(o)
		for parts := 1 + rnd.IntN(4); parts > 0; parts-- {
			n := len(in)
			if parts > 1 {
				n = rnd.IntN(len(in) + 1)
			}
			one.Write(in[:n])
			feedSplit(cut, string(in[:n]), rnd, 8)
			in = in[n:]
			checkInvariants(t, one)
			require.Equal(t, snap(one), snap(cut))
			cols, rows := size()
			one.Resize(cols, rows)
			cut.Resize(cols, rows)
			checkInvariants(t, one)
		}
		require.Equal(t, snap(one), snap(cut))
		require.LessOrEqual(t, memory(one), mostMemory(Options{Cols: 40, Rows: 12, HistoryLines: 20}))
	})
}

// checkInvariants checks what the rest of the package relies on.
func checkInvariants(tb require.TestingT, tm *Terminal) {
	require.Len(tb, tm.rows, tm.nrows)
	require.True(tb, tm.cx >= 0 && tm.cx < tm.cols && tm.cy >= 0 && tm.cy < tm.nrows)
	require.True(tb, 0 <= tm.top && tm.top <= tm.bot && tm.bot < tm.nrows)
	require.True(tb, 0 <= tm.left && tm.left <= tm.right && tm.right < tm.cols)
	require.LessOrEqual(tb, tm.hist.next-tm.hist.first, tm.hist.maxLines)
	ids := map[uint64]bool{}
	for _, s := range []*screen{&tm.main, &tm.alt} {
		for _, r := range s.rows {
			require.False(tb, ids[r.id], "two rows with one id")
			ids[r.id] = true
			checkRow(tb, tm, r)
		}
	}
}

func checkRow(tb require.TestingT, tm *Terminal, r *Row) {
	require.Len(tb, r.cells, tm.cols)
	for x, c := range r.cells {
		wide, spacer := c.ext()&wideFlag != 0, c.ext()&spacerFlag != 0
		switch {
		case x >= r.used:
			require.Equal(tb, Cell{}, c, "a cell behind used")
		case wide:
			require.True(tb, r.wide && x+1 < len(r.cells) && r.cells[x+1].ext()&spacerFlag != 0, "half a wide character")
			require.True(tb, sameRun(c, r.cells[x+1]), "halves of different style")
		case spacer:
			require.True(tb, x > 0 && r.cells[x-1].ext()&wideFlag != 0, "a spacer alone")
		}
		require.False(tb, wide && spacer)
		if r.plain {
			require.True(tb, c.ch() < 0x80 && c == Cell{lo: uint64(c.ch())}, "a plain row that is not")
		}
		if c.ch()&clusterBit != 0 {
			require.True(tb, r.wide)
			require.Less(tb, int(c.ch()&^clusterBit), len(tm.tables.clusters))
		}
		require.Less(tb, int(c.ext()&sideMask), len(tm.tables.sides))
	}
}
