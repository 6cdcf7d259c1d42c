package vt

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain/fault"
)

func mustSearch(tb testing.TB, expr string) *Search {
	tb.Helper()
	s, err := NewSearch(expr)
	require.NoError(tb, err)
	return s
}

// down searches to the end with calls of a budget, and counts them.
func (s *Search) down(t *Terminal, from Place, budget int) (found Found, calls int) {
	for {
		calls++
		if found = s.Down(t, from, budget); !found.More {
			return found, calls
		}
		from = found.Next
	}
}

func (s *Search) up(t *Terminal, from Place, budget int) (found Found, calls int) {
	for {
		calls++
		if found = s.Up(t, from, budget); !found.More {
			return found, calls
		}
		from = found.Next
	}
}

// all collects every match, downwards or upwards.
func (s *Search) all(t *Terminal, down bool, budget int) (all []Match) {
	at := Place{}
	if !down {
		at = Place{Line: 1 << 40}
	}
	for {
		var f Found
		if down {
			f, _ = s.down(t, at, budget)
			at = f.Match.To
		} else {
			f, _ = s.up(t, at, budget)
			at = f.Match.From
		}
		if !f.OK {
			return all
		}
		all = append(all, f.Match)
	}
}

func TestSearch(t *testing.T) {
	tm := New(Options{Cols: 10, Rows: 3, HistoryLines: 100})
	tm.Write([]byte("zero\r\none Error\r\n0123456789abcdef\r\n\x1b[31mer\x1b[32mror\x1b[m 宽e\u0301x\r\nlast \x1b[8Gerr"))
	// Lines: 0 zero, 1 one Error, 2 0123456789, 3 abcdef, 4 error 宽éx, 5 last   err
	find := func(expr string) []Match { return mustSearch(t, expr).all(tm, true, SearchBudget) }
	m := func(l1 uint64, c1 int, l2 uint64, c2 int) Match { return Match{Place{l1, c1}, Place{l2, c2}} }
	require.Equal(t, []Match{m(1, 4, 1, 9), m(4, 0, 4, 5)}, find("(?i)error"))
	require.Equal(t, []Match{m(4, 0, 4, 5)}, find("error"), "over two styles")
	require.Equal(t, []Match{m(2, 8, 3, 2)}, find("89ab"), "over a soft wrap")
	require.Equal(t, []Match{m(4, 6, 4, 8)}, find("宽"))
	require.Equal(t, []Match{m(4, 8, 4, 9)}, find("e\u0301"))
	require.Equal(t, []Match{m(5, 0, 5, 10)}, find("^last +err$"), "what was never written is blanks")
	require.Equal(t, []Match{m(0, 0, 0, 4)}, find("^zero$"))
	require.Empty(t, find("x*?"))
	require.Empty(t, find("zero.*one"), "a line end is none of a match's")

	s := mustSearch(t, "(?i)ERR")
	f := s.Up(tm, Place{Line: 5, Col: 7}, SearchBudget)
	require.Equal(t, m(4, 0, 4, 3), f.Match)
	f = s.Up(tm, f.Match.From, SearchBudget)
	require.Equal(t, m(1, 4, 1, 7), f.Match)
	require.Equal(t, Found{}, s.Up(tm, f.Match.From, SearchBudget))
	require.Equal(t, Found{}, s.Up(tm, Place{}, 0))
	require.Equal(t, Found{}, s.Down(tm, Place{Line: 6}, 0))
}

func TestSearchRefuses(t *testing.T) {
	for expr, kind := range map[string]fault.Kind{
		"(":                       fault.Usage,
		"a\\":                     fault.Usage,
		strings.Repeat("a", 1025): fault.Limit,
		"[a-c]{998}":              0,
		"(ab){999}":               fault.Limit,
	} {
		_, err := NewSearch(expr)
		if kind == 0 {
			require.NoError(t, err)
			continue
		}
		require.Error(t, err, expr)
		require.Equal(t, kind, fault.KindOf(err), expr)
	}
	mustSearch(t, strings.Repeat("a", MaxSearchBytes-100))
}

// logical reads the line of soft-wrapped rows that begins at n, by cells.
func logical(t *Terminal, n uint64) (text string, places []Place, widths []int, next uint64) {
	var l Line
	var b []byte
	for t.ReadLine(n, &l) {
		for x, c := range l.Cells {
			if c.IsSpacer() {
				continue
			}
			start := len(b)
			if c.Rune() == 0 {
				b = append(b, ' ')
			} else {
				b = t.AppendCell(b, c)
			}
			w := 1
			if c.IsWide() {
				w = 2
			}
			for range len(b) - start {
				places, widths = append(places, Place{n, x}), append(widths, w)
			}
		}
		n++
		if !l.Wrapped {
			break
		}
	}
	return strings.TrimRight(string(b), " "), places, widths, n
}

// TestSearchModel compares with a search by cells, line by line, in both directions and with the smallest budgets.
func TestSearchModel(t *testing.T) {
	exprs := []string{"a", "ab", "(?i)ab", "b+c", "宽", "e\u0301", "a.b", "[ab]+", "^a", "b$", "  ", "(?i)k", "\\bab", "c 宽|x", "(ab)+", "[a-cx]"}
	rapid.Check(t, func(rt *rapid.T) {
		tm := New(Options{Cols: rapid.IntRange(1, 9).Draw(rt, "cols"), Rows: rapid.IntRange(1, 5).Draw(rt, "rows"), HistoryLines: rapid.IntRange(0, 30).Draw(rt, "lines")})
		pieces := []string{"a", "b", "ab", "abc", "AB", " ", "  ", "宽", "e\u0301", "x", "K", "\u212a", "\r\n", "\r\n", "\x1b[31m", "\x1b[m", "\x1b[3C", "\x1b[K", "\x1b[1;4m", "\x1b]8;;http://ab\x07", "\x1b]8;;\x07", "\x1b[4:3;58;2;1;2;3m"}
		for range rapid.IntRange(1, 4).Draw(rt, "parts") {
			tm.Write([]byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 60).Draw(rt, "in"), "")))
			if rapid.Bool().Draw(rt, "resize") {
				tm.Resize(rapid.IntRange(1, 9).Draw(rt, "cols"), rapid.IntRange(1, 5).Draw(rt, "rows"))
			}
		}
		expr := rapid.SampledFrom(exprs).Draw(rt, "expr")
		re := regexp.MustCompile(expr)
		var want []Match
		for n := tm.FirstLine(); n < tm.linesEnd(); {
			text, places, widths, next := logical(tm, n)
			for _, m := range re.FindAllStringIndex(text, -1) {
				to := places[m[1]-1]
				to.Col += widths[m[1]-1]
				want = append(want, Match{places[m[0]], to})
			}
			n = next
		}
		s := mustSearch(t, expr)
		budget := rapid.SampledFrom([]int{0, 1, 200, SearchBudget}).Draw(rt, "budget")
		got := s.all(tm, true, budget)
		up := s.all(tm, false, budget)
		for i, j := 0, len(up)-1; i < j; i, j = i+1, j-1 {
			up[i], up[j] = up[j], up[i]
		}
		if fmt.Sprint(want) != fmt.Sprint(got) || fmt.Sprint(want) != fmt.Sprint(up) {
			rt.Fatalf("%q\nwant %v\ndown %v\nup   %v", expr, want, got, up)
		}
	})
}

// TestSearchIsBounded: no call does much more than its budget, even in one line without an end.
func TestSearchIsBounded(t *testing.T) {
	tm := New(Options{Cols: 80, Rows: 24, HistoryLines: 20000})
	tm.Write(bytes.Repeat([]byte("0123456789"), 80*1000))
	tm.Write([]byte("needle"))
	tm.Write(bytes.Repeat([]byte("0123456789"), 8*1000))
	for _, expr := range []string{"needle", "(?i)needle", "n[e]+dle"} {
		s := mustSearch(t, expr)
		s.begin(tm)
		f, calls := s.down(tm, Place{}, 1<<15)
		require.True(t, f.OK, expr)
		require.Equal(t, Match{Place{10000, 0}, Place{10000, 6}}, f.Match)
		require.Greater(t, calls, 10)
		require.LessOrEqual(t, s.spent, 1<<15+2*maxJoinedBytes*(1+32))
		f, _ = s.up(tm, Place{Line: 1 << 40}, 1<<15)
		require.Equal(t, Match{Place{10000, 0}, Place{10000, 6}}, f.Match)
	}
	// A match over the border of two pieces.
	n := uint64(maxJoinedBytes / 80)
	s := mustSearch(t, "789012345")
	f := s.Down(tm, Place{Line: n, Col: 72}, SearchBudget)
	require.Equal(t, Match{Place{n, 77}, Place{n + 1, 6}}, f.Match)
}

// TestSearchGoesOnWhileLinesLeave: what a resumed search has behind it may be gone.
func TestSearchGoesOnWhileLinesLeave(t *testing.T) {
	tm := New(Options{Cols: 20, Rows: 2, HistoryLines: 50})
	for i := range 100 {
		fmt.Fprintf(writerOf{tm}, "line %d\r\n", i)
	}
	s := mustSearch(t, "line 14[0-9]")
	f := s.Down(tm, Place{}, 1)
	require.True(t, f.More)
	for i := range 100 {
		fmt.Fprintf(writerOf{tm}, "line %d\r\n", 100+i)
	}
	f, _ = s.down(tm, f.Next, 1)
	require.Equal(t, Place{Line: 149}, f.Match.From, "line 149 is the oldest of them that is left")
	require.Equal(t, uint64(149), tm.FirstLine())
}

type writerOf struct{ t *Terminal }

func (w writerOf) Write(p []byte) (int, error) { w.t.Write(p); return len(p), nil }

func BenchmarkSearch(b *testing.B) {
	const lines = 1_000_000
	for _, content := range []string{"text", "coloured"} {
		tm := New(Options{Cols: 80, Rows: 24, HistoryLines: lines, HistoryBytes: 1 << 30})
		for i := range lines {
			if content == "text" {
				fmt.Fprintf(writerOf{tm}, "%7d the quick brown fox jumps over a lazy dog; the quick brown fox jumps\r\n", i)
			} else {
				fmt.Fprintf(writerOf{tm}, "\x1b[32m%7d \x1b[1;34mthe quick\x1b[m brown fox \x1b[31mjumps over\x1b[m a lazy dog; the quick\r\n", i)
			}
		}
		for _, expr := range []string{"needle", "(?i)needle", "needle [0-9]+", "[0-9]+ needle", "qu.ck cat"} {
			b.Run(content+"/"+expr, func(b *testing.B) {
				s := mustSearch(b, expr)
				start := cpuTime(b)
				for b.Loop() {
					if f, _ := s.down(tm, Place{}, SearchBudget); f.OK {
						b.Fatal("found")
					}
				}
				b.ReportMetric(float64((cpuTime(b)-start).Milliseconds())/float64(b.N), "cpu-ms")
				if content == "text" {
					b.ReportMetric(200, "must-ms")
				}
			})
		}
	}
}
