package client

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/protocol"
)

const scrollKey = lead + "["

// copier keeps what was copied.
type copier struct {
	mu   sync.Mutex
	text []string
	err  error
}

func (c *copier) Copy(_ context.Context, text []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text = append(c.text, string(text))
	return c.err
}

func (c *copier) last() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.text) == 0 {
		return ""
	}
	return c.text[len(c.text)-1]
}

// scrolling runs f beside a client of 20x5 whose session has printed lines 0 to n-1, of which the last 4 show above the
// cursor's.
func scrolling(t *testing.T, n int, f func(a *attachment, c *copier)) {
	t.Helper()
	c := &copier{}
	attached(t, func(a *attachment) {
		a.opts.Copier, a.opts.Mouse, a.opts.Prefetch = c, true, 100
		for i := range n {
			_, _ = fmt.Fprintf(a.daemon.term, "line %d\r\n", i)
		}
	}, func(a *attachment) { f(a, c) })
}

// shows requires the rows of the terminal, each up to its blanks at the end.
func (a *attachment) shows(rows ...string) {
	a.t.Helper()
	synctest.Wait()
	require.Equal(a.t, rows, strings.Split(strings.TrimRight(a.term.text(), "\n"), "\n"))
}

func TestScrollModeMovesOverTheHistoryWhileOutputGoesOn(t *testing.T) {
	scrolling(t, 50, func(a *attachment, _ *copier) {
		a.types(scrollKey)
		a.shows("line 46       [0/46]", "line 47", "line 48", "line 49")
		a.types("k")
		a.types("\x1b[5~")
		a.shows("line 42       [4/46]", "line 43", "line 44", "line 45", "line 46")
		a.daemon.prints("more\r\nand more\r\n")
		a.shows("line 42       [6/48]", "line 43", "line 44", "line 45", "line 46")
		a.types("g")
		a.shows("line 0       [48/48]", "line 1", "line 2", "line 3", "line 4")
		a.types("G")
		a.shows("line 48       [0/48]", "line 49", "more", "and more")
		require.Empty(t, a.daemon.typed(), "keys of scroll mode are nobody else's")
		a.types("qx")
		require.Equal(t, "x", a.daemon.typed(), "what follows the key that leaves is typed")
		a.settles0(t)
	})
}

// settles0 requires that the terminal shows the session, but for the mouse that the client takes.
func (a *attachment) settles0(t *testing.T) {
	t.Helper()
	time.Sleep(10 * time.Second)
	synctest.Wait()
	require.Equal(t, screenText(a.daemon.term), screenText(a.term.vt))
	require.Equal(t, a.daemon.term.Cursor(), a.term.vt.Cursor())
}

func TestKeysOfScrollMode(t *testing.T) {
	for _, c := range []struct {
		keys, top string
		row, col  int // of the cursor
	}{
		{"", "line 46", 4, 0},
		{"k", "line 46", 3, 0},
		{"kkkkk", "line 45", 0, 0},
		{"\x1b[A\x1bOA", "line 46", 2, 0},
		{"\x15", "line 44", 4, 0},
		{"\x02", "line 42", 4, 0},
		{"\x02\x06", "line 46", 4, 0},
		{"\x02j", "line 43", 4, 0},
		{"\x19\x19", "line 44", 4, 0},
		{"\x19\x19\x05", "line 45", 3, 0},
		{"g", "line 0", 0, 0},
		{"g\x02", "line 0", 0, 0},
		{"gG", "line 46", 4, 0},
		{"k$", "line 46", 3, 6},
		{"k$0", "line 46", 3, 0},
		{"kl\x1b[C\x1b[D", "line 46", 3, 1},
		{"khh", "line 46", 3, 0},
		{"klllllllll", "line 46", 3, 6},
		{"kw", "line 46", 3, 5},
		{"kkww", "line 46", 3, 0},
		{"ke", "line 46", 3, 3},
		{"k$b", "line 46", 3, 5},
		{"k$bb", "line 46", 3, 0},
		{"kbb", "line 46", 2, 0},
		{"\x1b[107u", "line 46", 3, 0},             // k, of a terminal that still encodes keys
		{"\x1b[117;5u", "line 44", 4, 0},           // C-u
		{"\x1b[200~ggg\x1b[201~", "line 46", 4, 0}, // a paste is no key
	} {
		scrolling(t, 50, func(a *attachment, _ *copier) {
			a.types(scrollKey)
			a.types(c.keys)
			require.True(t, strings.HasPrefix(a.term.text(), c.top+" "), "%q: %q", c.keys, a.term.text())
			require.Equal(t, []int{c.row, c.col}, []int{a.term.vt.Cursor().Row, a.term.vt.Cursor().Col}, "%q", c.keys)
		})
	}
}

func TestLinesAreFetchedAheadAndKept(t *testing.T) {
	scrolling(t, 500, func(a *attachment, _ *copier) {
		time.Sleep(time.Second)
		synctest.Wait()
		require.Len(t, a.daemon.asked, 1, "the newest are there before anybody asks")
		require.Equal(t, &protocol.History{Session: "01" + strings.Repeat("0", 30), First: 396, Count: 100}, a.daemon.asked[0])
		a.daemon.set(func() { a.daemon.unanswering = true })
		a.types(scrollKey)
		a.types(strings.Repeat("\x02", 24))
		require.Contains(t, a.term.text(), "line 400 ")
		require.Len(t, a.daemon.asked, 2, "one question at a time")
		a.types(strings.Repeat("\x02", 10))
		require.NotContains(t, a.term.text(), "line", "what is not here yet is blank")
		require.Len(t, a.daemon.asked, 2)

		a.daemon.set(func() { a.daemon.unanswering = false })
		a.daemon.cut(false)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		require.Contains(t, a.term.text(), "line 360 ", "a question outlives its conversation")
	})
}

func TestTheWheelScrollsAndComesBack(t *testing.T) {
	scrolling(t, 50, func(a *attachment, _ *copier) {
		require.Equal(t, vt.MouseButton, a.term.vt.Modes().Mouse)
		a.types("\x1b[<64;3;3M")
		a.shows("line 43       [3/46]", "line 44", "line 45", "line 46", "line 47")
		a.types("\x1b[<65;3;3M")
		a.shows("line 46", "line 47", "line 48", "line 49")
		a.types("\x1b[<6")
		a.types("4;3;3M\x1b[<64;3;3M")
		a.shows("line 40       [6/46]", "line 41", "line 42", "line 43", "line 44")
		require.Empty(t, a.daemon.typed())
	})
}

func TestTheMouseIsTheProgramsThatTakesIt(t *testing.T) {
	scrolling(t, 50, func(a *attachment, _ *copier) {
		a.daemon.prints("\x1b[?1000h\x1b[?1006h")
		synctest.Wait()
		a.types("\x1b[<64;3;3M")
		require.Equal(t, "\x1b[<64;3;3M", a.daemon.typed())
		a.daemon.prints("\x1b[?1000l\x1b[?1049h")
		synctest.Wait()
		require.Equal(t, vt.MouseNone, a.term.vt.Modes().Mouse, "the terminal turns the wheel into arrow keys there")
		require.True(t, a.term.vt.Modes().AltScroll)
	})
}

func TestSearch(t *testing.T) {
	scrolling(t, 1000, func(a *attachment, _ *copier) {
		a.types(scrollKey)
		a.types("?line 1$")
		a.shows("line 0     [996/996]", "line 1", "line 2", "line 3", "?line 1$")
		a.types("\r")
		require.Equal(t, 1, a.term.vt.Cursor().Row)
		require.Equal(t, vt.Indexed(208), a.term.vt.Row(1).Cells()[0].Background(), "the match is marked")
		a.types("n")
		require.Equal(t, 1, a.term.vt.Cursor().Row, "there is no other")
		require.Contains(t, a.term.text(), "search goes on from")
		a.types("/LINE")
		require.Equal(t, vt.Color(0), a.term.vt.Row(1).Cells()[0].Background(), "capitals count")
		a.types("\x1b")
		a.types("/line 50\r")
		require.Contains(t, a.term.text(), "line 50\n")
		a.types("n")
		require.Contains(t, a.term.text(), "line 500\n")
		a.types("N")
		require.Contains(t, a.term.text(), "line 50\n")
		a.types("NN")
		require.Contains(t, a.term.text(), "line 508\n")
		require.Contains(t, a.term.text(), "search goes on from")
		a.types("/(")
		require.Contains(t, a.term.text(), "not a regular")
		a.types("\x1b")
		require.Contains(t, a.term.text(), "line 508\n", "given up, the view is back")
	})
}

// searches is how many of the questions so far were for a match.
func (d *fakeDaemon) searches() (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, b := range d.asked {
		if _, ok := b.(*protocol.Search); ok {
			n++
		}
	}
	return n
}

// A search that finds nothing up to the end goes on from the other one at the daemon: it is one question, and no line is
// searched twice. A daemon that does not know how is asked again.
func TestSearchGoesAroundInOneQuestion(t *testing.T) {
	for _, onceOnly := range []bool{false, true} {
		questions := 1
		if onceOnly {
			questions = 2
		}
		scrolling(t, 5000, func(a *attachment, _ *copier) {
			a.daemon.set(func() { a.daemon.onceOnly = onceOnly })
			a.types(scrollKey + "?line 12$\r")
			require.Contains(t, a.term.text(), "line 12\n")
			for _, key := range []string{"n", "N"} {
				before := a.daemon.searches()
				a.types(key)
				require.Equal(t, questions, a.daemon.searches()-before, "the same one is found around the ends")
				require.Contains(t, a.term.text(), "line 12\n")
				require.Contains(t, a.term.text(), "search goes on from")
			}
			a.types("/xyz")
			before := a.daemon.searches()
			a.types("w")
			require.Equal(t, questions, a.daemon.searches()-before)
			require.Contains(t, a.term.text(), "no match")
		})
	}
}

func TestSearchPassesOverTheScreenThatDoesNotShow(t *testing.T) {
	scrolling(t, 50, func(a *attachment, _ *copier) {
		a.daemon.prints("needle\r\n" + strings.Repeat("\r\n", 5000) + "needle here\r\n\r\n\r\n\r\n\x1b[?1049h\x1b[3;4Hother")
		synctest.Wait()
		a.types(scrollKey + "?needle\r")
		require.Contains(t, a.term.text(), "needle\n")
		a.types("n")
		require.Contains(t, a.term.text(), "needle\n", "there is no other")
		a.types("?other\r")
		require.Contains(t, a.term.text(), "   other\n")
		a.types("/needle\r")
		require.Contains(t, a.term.text(), "needle\n")
	})
}

func TestSearchInTheScreenOfAFullScreenProgram(t *testing.T) {
	scrolling(t, 50, func(a *attachment, _ *copier) {
		a.daemon.prints("\x1b[?1049h\x1b[3;4Hneedle")
		synctest.Wait()
		a.types(scrollKey + "?need\r")
		require.Equal(t, []int{2, 3}, []int{a.term.vt.Cursor().Row, a.term.vt.Cursor().Col})
		a.types("?line 1$\r")
		require.Equal(t, []int{1, 0}, []int{a.term.vt.Cursor().Row, a.term.vt.Cursor().Col}, "what is above it is the main screen's history")
		a.types("q")
		a.settles0(t)
	})
}

func TestCopy(t *testing.T) {
	for _, c := range []struct{ keys, text string }{
		{"kkvjy", "line 48\nl"},
		{"kkVy", "line 48\n"},
		{"kkVj\r", "line 48\nline 49\n"},
		{"kv$y", "line 49"},
		{"kk$\x16khhy", "47\n48"},
		{"kv\x1by", ""},
		{"kk$vobby", "line 48"},
		{"gVGy", func() string {
			var b strings.Builder
			for i := range 500 {
				fmt.Fprintf(&b, "line %d\n", i)
			}
			return b.String() + "\n"
		}()},
	} {
		scrolling(t, 500, func(a *attachment, cp *copier) {
			if c.keys == "gVGy" {
				a.types(scrollKey + c.keys)
			} else {
				a.types(scrollKey + strings.ReplaceAll(c.keys, "48", "48"))
			}
			want := strings.NewReplacer("47", "497", "48", "498", "49", "499").Replace(c.text)
			if c.keys == "gVGy" {
				want = c.text
			}
			require.Equal(t, want, cp.last(), "%q", c.keys)
			if want != "" {
				require.Contains(t, a.term.written(), "\x1b]52;c;")
			}
		})
	}
}

func TestCopyJoinsSoftWrapsAndKeepsWideCharactersWhole(t *testing.T) {
	scrolling(t, 0, func(a *attachment, cp *copier) {
		a.daemon.prints("0123456789abcdefghijklmno  \r\n日本語 done   \r\n")
		synctest.Wait()
		a.types(scrollKey + "gvjjly")
		require.Equal(t, "0123456789abcdefghijklmno\n日本", cp.last())
		a.types(scrollKey + "gVy")
		require.Equal(t, "0123456789abcdefghijklmno\n", cp.last())
		a.types(scrollKey + "gjV\r")
		require.Equal(t, "0123456789abcdefghijklmno\n", cp.last(), "from its second row too")
		a.types("\x1b[<0;18;1M\x1b[<0;18;1m")
		time.Sleep(time.Second)
		a.types("\x1b[<0;18;1M\x1b[<0;18;1m\x1b[<0;18;1M\x1b[<0;18;1m")
		require.Equal(t, "0123456789abcdefghijklmno", cp.last(), "a double click takes the word over the wrap")
		time.Sleep(time.Second)
		a.types("\x1b[<0;2;2M\x1b[<0;2;2m\x1b[<0;2;2M\x1b[<0;2;2m")
		require.Equal(t, "0123456789abcdefghijklmno", cp.last(), "from its second row too")
		a.types(scrollKey + "/jkl\r")
		require.Equal(t, []int{0, 19}, []int{a.term.vt.Cursor().Row, a.term.vt.Cursor().Col}, "over the wrap")
	})
}

func TestMouseSelects(t *testing.T) {
	scrolling(t, 50, func(a *attachment, cp *copier) {
		a.types("\x1b[<0;1;2M\x1b[<0;1;2m")
		a.shows("line 46", "line 47", "line 48", "line 49")
		time.Sleep(time.Second)
		a.types("\x1b[<0;3;2M\x1b[<32;4;3M")
		require.NotZero(t, a.term.vt.Row(1).Cells()[2].Attrs()&vt.Inverse)
		a.types("\x1b[<0;4;3m")
		require.Equal(t, "ne 47\nline", cp.last())
		time.Sleep(time.Second)
		a.types("\x1b[<0;2;2M\x1b[<0;2;2m\x1b[<0;2;2M\x1b[<0;2;2m")
		require.Equal(t, "line", cp.last(), "a double click takes the word")
		a.types("\x1b[<0;2;2M\x1b[<0;2;2m")
		require.Equal(t, "line 47\n", cp.last(), "a third one the line")
		a.settles0(t)

		a.types("\x1b[<0;1;3M\x1b[<32;1;1M")
		time.Sleep(dragInterval*10 + time.Millisecond)
		a.types("\x1b[<0;1;1m")
		require.Equal(t, "line 36", strings.SplitN(cp.last(), "\n", 2)[0], "at the edge the view moves on")
		require.Empty(t, a.daemon.typed())
	})
}

func TestAFailingCopyCommandIsSaid(t *testing.T) {
	scrolling(t, 50, func(a *attachment, cp *copier) {
		cp.err = fault.New(fault.Unavailable, "xsel: not found")
		a.types(scrollKey + "kvy")
		require.Contains(t, a.term.text(), "xsel: not fo")
	})
}

func TestReadOnlyClientsScrollAndCopy(t *testing.T) {
	cp := &copier{}
	attached(t, func(a *attachment) {
		a.opts.Attach.ReadOnly, a.opts.Copier = true, cp
		for i := range 50 {
			_, _ = fmt.Fprintf(a.daemon.term, "line %d\r\n", i)
		}
	}, func(a *attachment) {
		a.types(scrollKey + "g")
		a.types("vey")
		require.Equal(t, "line", cp.last())
		require.Empty(t, a.daemon.typed())
	})
}

func TestResizeWhileScrolled(t *testing.T) {
	scrolling(t, 50, func(a *attachment, _ *copier) {
		a.daemon.set(func() { a.daemon.obedient = true })
		a.types(scrollKey + "\x02\x02")
		a.term.resize(30, 8)
		synctest.Wait()
		require.Contains(t, a.term.text(), "line 38 ")
		a.term.resize(4, 3)
		synctest.Wait()
		require.Contains(t, a.term.text(), "line")
		a.types("g")
		a.shows("line", " 0", "line")
		a.types("q")
		a.settles0(t)
	})
}

func TestColoursOfHistoryAreThoseOfTheSession(t *testing.T) {
	scrolling(t, 0, func(a *attachment, _ *copier) {
		row := "\x1b[1;4:3;58;2;1;2;3;38;2;9;8;7;48;5;20m\x1b]8;;http://x\x1b\\a日\x1b]8;;\x1b\\\x1b[m b\x1b[44m\x1b[K\x1b[m\r\n"
		a.daemon.prints(row + strings.Repeat("\r\n", 10))
		synctest.Wait()
		a.types(scrollKey + "g")
		want := vt.New(vt.Options{Cols: 20, Rows: 5})
		want.Write([]byte(row))
		for x := range 12 { // beside the label
			require.Equal(t, look(want, x, 0), look(a.term.vt, x, 0), x)
		}
	})
}

// Whatever is typed, clicked, printed and resized in scroll mode: the view stays among the lines there are, and leaving
// shows the session.
func TestScrollModeTakesAnything(t *testing.T) {
	keys := []string{
		scrollKey, "k", "j", "h", "l", "w", "b", "e", "0", "$", "g", "G", "\x02", "\x06", "\x15", "\x04", "\x19", "\x05", "v", "V", "\x16", "o", "y", "\r",
		"\x1b", "/", "?", "a", "line", "日", "\x7f", "n", "N", "(", "x*", "\x1b[<64;3;3M", "\x1b[<65;3;3M", "\x1b[<0;1;1M", "\x1b[<32;9;5M",
		"\x1b[<32;30;9M", "\x1b[<0;9;5m", "\x1b[<0;2;2M\x1b[<0;2;2m\x1b[<0;2;2M", "\x1b[5~", "\x1b[200~line\x1b[201~",
	}
	pieces := []string{"line\r\n", "日本語日本語日本語日本語 wrapped\r\n", "\x1b[H\x1b[2J", "\x1b[3J", "\x1b[?1049h", "\x1b[?1049l", "x", "\x1bc", "\x1b[?1000h", "\x1b[?1000l"}
	type step struct {
		kind, cols, rows int
		text             string
	}
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
			s := step{kind: rapid.IntRange(0, 9).Draw(rt, "kind")}
			switch s.kind {
			case 0:
				s.cols, s.rows = rapid.IntRange(1, 30).Draw(rt, "cols"), rapid.IntRange(1, 9).Draw(rt, "rows")
			case 1, 2:
				s.text = strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 5).Draw(rt, "output"), "")
			default:
				s.text = strings.Join(rapid.SliceOfN(rapid.SampledFrom(keys), 1, 4).Draw(rt, "keys"), "")
			}
			return s
		}), 1, 30).Draw(rt, "steps")
		obedient := rapid.Bool().Draw(rt, "the session has the terminal's size")
		var wrong string
		scrolling(t, 60, func(a *attachment, _ *copier) {
			a.daemon.set(func() { a.daemon.obedient = obedient })
			for _, s := range steps {
				switch s.kind {
				case 0:
					a.term.resize(s.cols, s.rows)
				case 1, 2:
					a.daemon.prints(s.text)
				case 9:
					a.daemon.cut(true)
					time.Sleep(100 * time.Millisecond)
				default:
					a.types(s.text)
				}
				synctest.Wait()
			}
			s := a.client.scroll
			s.mu.Lock()
			if s.on && (s.view.line >= s.end() || s.cur.line >= s.end()) {
				wrong = fmt.Sprintf("view %v and cursor %v, the lines end before %d", s.view, s.cur, s.end())
			}
			s.mu.Unlock()
			a.types("\x1b[201~\x1b")
			a.types("\x1b")
			a.types("\x1b")
			a.term.resize(20, 5)
			synctest.Wait()
			a.daemon.prints("\x1b[?1000h") // the mouse is the program's: the modes are alike
			time.Sleep(10 * time.Second)
			synctest.Wait()
			if _, err := a.result, a.err; err != nil {
				wrong = err.Error()
			}
			if a.client.scroll.active() {
				wrong = "Escape does not leave"
			} else if diff := a.difference(); diff != "" && wrong == "" {
				wrong = diff
			}
		})
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}
