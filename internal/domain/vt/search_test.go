package vt

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain/fault"
)

func mustSearch(tb require.TestingT, expr string) *Search {
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

// naive finds all matches by cells, line by line.
func naive(t *Terminal, expr string) (all []Match) {
	re := regexp.MustCompile(expr)
	for n := t.FirstLine(); n < t.linesEnd(); {
		text, places, widths, next := logical(t, n)
		for _, m := range re.FindAllStringIndex(text, -1) {
			if m[0] < m[1] {
				to := places[m[1]-1]
				to.Col += widths[m[1]-1]
				all = append(all, Match{places[m[0]], to})
			}
		}
		n = next
	}
	return all
}

// agrees compares a search in both directions with the naive one.
func agrees(rt *rapid.T, tm *Terminal, expr string, budget int) {
	want := naive(tm, expr)
	s := mustSearch(rt, expr)
	down, up := s.all(tm, true, budget), s.all(tm, false, budget)
	slices.Reverse(up)
	if !slices.Equal(want, down) || !slices.Equal(want, up) {
		rt.Fatalf("%q\nwant %v\ndown %v\nup   %v", expr, want, down, up)
	}
}

// bulky makes each row take 4 KB of history, so that few rows fill a chunk.
var bulky = "\x1b]8;;" + strings.Repeat("ab", maxLinkBytes/2-1) + "\x07"

// TestSearchModel compares with a search by cells, line by line, in both directions and with the smallest budgets, also
// where lines go on from one chunk of history to the next.
func TestSearchModel(t *testing.T) {
	exprs := []string{
		"a", "ab", "(?i)ab", "b+c", "宽", "e\u0301", "a.b", "[ab]+", "^a", "b$", "  ", "(?i)k", "\\bab", "c 宽|x", "(ab)+", "[a-cx]",
		"(?i)xk|b a", "a  b", "(?i)ABC|s", "ab|x|宽", "(a|b)c", "x*", "(?i)宽",
		"[ab]$", "^[a-c]", "^[ab]{2}$", "[ab] *$", "[^a]$", "[ab]$$", "^^[ab]", "(?m)^[ab]+$", "\\b[ab]\\b", "\\B[bx]", "[^ -~]", "(?i)[k]",
		"(?i)[s]", "[xK] ?$", "[ab]*$", "(?:[a ]|宽)+\\z", "[ab]??$", "^$", "$", "a$b", "(^|[ab])[xc]", "[ab]{1,40}c", "[^\\x00-\\x{10FFFF}]",
	}
	rapid.Check(t, func(rt *rapid.T) {
		tm := New(Options{Cols: rapid.IntRange(1, 9).Draw(rt, "cols"), Rows: rapid.IntRange(1, 5).Draw(rt, "rows"), HistoryLines: rapid.IntRange(0, 80).Draw(rt, "lines")})
		pieces := []string{"a", "b", "ab", "abc", "AB", " ", "  ", "宽", "e\u0301", "x", "K", "\u212a", "\u017f", "\r\n", "\r\n", "\r\n", "\x1b[31m", "\x1b[m", "\x1b[3C", "\x1b[K", "\x1b[1;4m", "\x1b]8;;http://ab\x07", "\x1b]8;;\x07", "\x1b[4:3;58;2;1;2;3m", bulky}
		plain := []string{"a", "b", "ab", "abc", "AB", " ", "x", "K", "\r\n", "\r\n", "\r\n", "\x1b[3C"}
		for range rapid.IntRange(1, 4).Draw(rt, "parts") {
			from := pieces
			if rapid.Bool().Draw(rt, "plain") {
				from = plain
				tm.Write([]byte("\x1b[m\x1b]8;;\x07\r\n"))
			}
			tm.Write([]byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom(from), 0, 60).Draw(rt, "in"), "")))
			if rapid.Bool().Draw(rt, "resize") {
				tm.Resize(rapid.IntRange(1, 9).Draw(rt, "cols"), rapid.IntRange(1, 5).Draw(rt, "rows"))
			}
		}
		agrees(rt, tm, rapid.SampledFrom(exprs).Draw(rt, "expr"), rapid.SampledFrom([]int{0, 1, 200, SearchBudget}).Draw(rt, "budget"))
	})
}

// TestProbes: what is looked for before an expression is asked.
func TestProbes(t *testing.T) {
	for expr, want := range map[string]string{
		"needle":                        "[needle]",
		"a(needle|hay)+b":               "[needle hay]",
		"^x: (need){2}le$":              "[need]",
		"error|warning":                 "[error warning]",
		"(?i)Error|PANIC":               "[error panic]",
		"(?i:Task)|WARN":                "[task warn \u212a \u017f]",
		"[0-9]+|needle":                 "[]",
		"(needle)?":                     "[]",
		"(?i)stra\u00dfe":               "[]",
		"(?i)x stra\u00dfe[0-9] needle": "[ needle]",
		strings.Join(strings.Split("abcdefghijklmnop", ""), "x|") + "x|qx": "[]",
		strings.Join(strings.Split("abcdefghijklmno", ""), "x|") + "x":     "[ax bx cx dx ex fx gx hx ix jx kx lx mx nx ox]",
	} {
		require.Equal(t, want, fmt.Sprintf("%s", mustSearch(t, expr).sieve.probes), expr)
	}
}

// TestMachineIsBounded: an expression with more states than are kept still finds every line, and so does one that takes more
// work than a block may.
func TestMachineIsBounded(t *testing.T) {
	const expr = "a[ab]{14}c"
	m, re := mustSearch(t, expr).machine, regexp.MustCompile(expr)
	rapid.Check(t, func(rt *rapid.T) {
		line := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab", "ba", "c", "宽"}), 0, 80).Draw(rt, "line"), ""))
		if m.left = machineWork; !m.may(line) && re.Match(line) {
			rt.Fatalf("%q matches", line)
		}
	})
	line := bytes.Repeat([]byte("abbabaaab"), 10)
	for i := range 1 << 12 {
		m.left = machineWork
		line[i%len(line)] ^= 'a' ^ 'b'
		m.may(line)
	}
	require.Len(t, m.states, maxMachineStates)
	require.True(t, m.may(line), "what has no state may match")

	m = mustSearch(t, expr).machine
	m.left = len(m.prog.Inst) - 1
	require.True(t, m.may([]byte("x")), "no work is left")
	require.True(t, m.left < 0 && m.states[lineStart].to['x'] == unknown)
	m.left = machineWork
	require.False(t, m.may([]byte("x")))
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
		f, calls := s.down(tm, Place{}, 1<<14)
		require.True(t, f.OK, expr)
		require.Equal(t, Match{Place{10000, 0}, Place{10000, 6}}, f.Match)
		require.Greater(t, calls, 10)
		require.LessOrEqual(t, s.spent, 1<<14+2*maxJoinedBytes*(1+32))
		f, calls = s.up(tm, Place{Line: 1 << 40}, 1<<14)
		require.Greater(t, calls, 1)
		require.LessOrEqual(t, s.spent, 1<<14+2*maxJoinedBytes*(1+32))
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

// BenchmarkSearch looks through a million lines for what is not there.
func BenchmarkSearch(b *testing.B) {
	const lines = 1_000_000
	for _, of := range []struct {
		name, line string
		cols       int
	}{
		{"text", "%7d the quick brown fox jumps over a lazy dog; the quick brown fox jumps\r\n", 80},
		{"short", "%d\r\n", 80},
		{"wrapped", "%7d the quick brown fox jumps over a lazy dog; the quick brown fox jumps\r\n", 40},
		{"coloured", "\x1b[32m%7d \x1b[1;34mthe quick\x1b[m brown fox \x1b[31mjumps over\x1b[m a lazy dog; the quick\r\n", 80},
	} {
		tm := New(Options{Cols: of.cols, Rows: 24, HistoryLines: lines, HistoryBytes: 1 << 30})
		for i := range lines {
			fmt.Fprintf(writerOf{tm}, of.line, i)
		}
		for _, expr := range []string{
			"needle", "(?i)needle", "[0-9]+ needle", "qu.ck cat", "needle|haystack", "[0-9]{9}", "^[a-z]+[0-9]$", "[A-Z]\\w+", "\\d+\\.\\d+",
		} {
			for _, way := range []string{"down", "up"} {
				b.Run(of.name+"/"+way+"/"+expr, func(b *testing.B) {
					s := mustSearch(b, expr)
					start := cpuTime(b)
					for b.Loop() {
						var f Found
						if way == "down" {
							f, _ = s.down(tm, Place{}, SearchBudget)
						} else {
							f, _ = s.up(tm, Place{Line: 1 << 40}, SearchBudget)
						}
						if f.OK {
							b.Fatal("found")
						}
					}
					b.ReportMetric(float64((cpuTime(b)-start).Milliseconds())/float64(b.N), "cpu-ms")
					b.ReportMetric(200, "must-ms")
				})
			}
		}
	}
}
