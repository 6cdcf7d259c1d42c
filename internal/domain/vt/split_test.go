package vt

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// snapshot is all that a program's output can change, as values.
type snapshot struct {
	Lines   []string
	Cursor  Cursor
	Modes   Modes
	Title   string
	Cwd     string
	Replies string
	Events  []Event
	Top     uint64
	First   uint64
}

func snap(tm *Terminal) snapshot {
	s := snapshot{
		Cursor: tm.Cursor(), Modes: tm.Modes(), Title: tm.Title(), Cwd: tm.Cwd(),
		Replies: string(tm.TakeReplies()), Events: tm.TakeEvents(), Top: tm.ScreenTop(), First: tm.FirstLine(),
	}
	var line Line
	for n := s.First; tm.ReadLine(n, &line); n++ {
		s.Lines = append(s.Lines, describe(tm, line.Cells, line.Wrapped))
	}
	for y := range tm.nrows {
		r := tm.Row(y)
		s.Lines = append(s.Lines, describe(tm, r.Cells(), r.Wrapped()))
	}
	return s
}

func describe(tm *Terminal, cells []Cell, wrapped bool) string {
	var b strings.Builder
	for x, c := range cells {
		if c == (Cell{}) {
			continue
		}
		fmt.Fprintf(&b, "%d:%q", x, tm.AppendCell(nil, c))
		if c.IsWide() {
			b.WriteByte('W')
		}
		if st := tm.Style(c); st != (Style{}) {
			fmt.Fprint(&b, st)
		}
	}
	return fmt.Sprint(b.String(), wrapped)
}

// feedSplit writes in in pieces that end at random places, 1 byte long on average when n is 0.
func feedSplit(tm *Terminal, in string, rnd *rand.Rand, splits int) {
	for i := 0; i < splits && len(in) > 0; i++ {
		n := rnd.IntN(len(in) + 1)
		tm.Write([]byte(in[:n]))
		in = in[n:]
	}
	tm.Write([]byte(in))
}

// script is what happens to a terminal, in order: strings are written, sizes are resizes, functions are what the owner
// does.
type script []any

type size struct{ cols, rows int }

// play runs the script on a new terminal; feed writes one of its strings.
func (s script) play(o Options, feed func(tm *Terminal, in string)) *Terminal {
	tm := New(o)
	for _, step := range s {
		switch step := step.(type) {
		case string:
			feed(tm, step)
		case size:
			tm.Resize(step.cols, step.rows)
		case func(*Terminal):
			step(tm)
		}
	}
	return tm
}

func feedWhole(tm *Terminal, in string) { tm.Write([]byte(in)) }

func feedBytes(tm *Terminal, in string) {
	for i := range len(in) {
		tm.Write([]byte(in[i : i+1]))
	}
}

// check plays the script with its strings whole, byte by byte, and 50 times cut at random places, wants the same state
// each time, and returns the terminal that was fed whole with what it answered.
func (s script) check(t *testing.T, o Options) (*Terminal, snapshot) {
	t.Helper()
	whole := s.play(o, feedWhole)
	want := snap(whole)
	require.Equal(t, want, snap(s.play(o, feedBytes)), "byte by byte")
	rnd := rand.New(rand.NewPCG(1, uint64(len(s))))
	for range 50 {
		tm := s.play(o, func(tm *Terminal, in string) { feedSplit(tm, in, rnd, 4) })
		require.Equal(t, want, snap(tm), "in random pieces")
	}
	return whole, want
}

// run checks the script of one string.
func run(t *testing.T, cols, rows int, in string) (*Terminal, snapshot) {
	t.Helper()
	return script{in}.check(t, Options{Cols: cols, Rows: rows, HistoryLines: 50})
}

// screen80 is run on 80x24.
func screen80(t *testing.T, in string) (*Terminal, snapshot) {
	t.Helper()
	return run(t, 80, 24, in)
}
