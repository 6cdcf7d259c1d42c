package client

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain/keys"
)

const (
	openPaste  = "\x1b[200~"
	closePaste = "\x1b[201~"
)

// bare is what a program without brackets gets for a paste.
func bare(text string) string {
	var p keys.Paste
	return string(p.Append(nil, []byte(text)))
}

func TestPasteIsBracketedForWhoAskedForIt(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		require.True(t, a.term.vt.Modes().BracketedPaste, "the program has not asked")
		const text = "a\r\n\tb\n" + lead + "d\x1b[A\x03é"
		a.types(openPaste + text + closePaste)
		require.Equal(t, "a\r\tb\rd[Aé", a.daemon.typed())
		a.daemon.prints("\x1b[?2004h")
		synctest.Wait()
		a.types(openPaste + text + closePaste)
		require.Equal(t, "a\r\tb\rd[Aé"+openPaste+text+closePaste, a.daemon.typed())
		a.daemon.prints("\x1b[?2004l")
		synctest.Wait()
		require.True(t, a.term.vt.Modes().BracketedPaste)
	})
}

// What the program has set when a paste begins counts to its end.
func TestPasteEndsAsItBegan(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		a.types(openPaste + "a\x03")
		a.daemon.prints("\x1b[?2004h")
		synctest.Wait()
		a.types("b\x03" + closePaste)
		a.types(openPaste + "c\x03")
		a.daemon.prints("\x1b[?2004l")
		synctest.Wait()
		a.types("d\x03" + closePaste + "\x03")
		require.Equal(t, "ab"+openPaste+"c\x03d\x03"+closePaste+"\x03", a.daemon.typed())
	})
}

func TestPasteOfAnySize(t *testing.T) {
	for _, size := range []int{1 << 20, 10 << 20} {
		text := strings.Repeat("0123456789 äö漢字\r", size/24)
		for on, want := range map[string]string{"\x1b[?2004h": openPaste + text + closePaste, "": text} {
			attached(t, nil, func(a *attachment) {
				a.daemon.prints(on)
				synctest.Wait()
				go a.term.enter(openPaste + text + closePaste)
				a.daemon.await(len(want))
				synctest.Wait()
				require.True(t, want == a.daemon.typed())
			})
		}
	}
}

// TestPastesAtAnySplit puts keys and pastes together and cuts them anywhere: each paste comes whole, cleaned if the program
// has no brackets, and no byte of it is a leader. Of a begin whose first read ends behind ESC or ESC [, which are keys, the
// rest follows.
func TestPastesAtAnySplit(t *testing.T) {
	words := []string{
		"a", "é", "漢", "\r", "\n", "\r\n", "\t", "\x1b", lead, lead + "d", kittyLead, "\x03", "\x7f", "\u009b", "\xc2", "\xff", openPaste, "\x1b[20",
		"201~", "\x1b[<0;1;1M", "\x1b[I",
	}
	rapid.Check(t, func(rt *rapid.T) {
		type piece struct {
			text  string
			paste bool
		}
		pieces := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) piece {
			if rapid.Bool().Draw(rt, "paste") {
				return piece{strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 8).Draw(rt, "text"), ""), true}
			}
			return piece{rapid.SampledFrom([]string{"x", "\x1b[1;5D", "\x1bOP", "\x1b", "ß", "\x1b[20~"}).Draw(rt, "key"), false}
		}), 1, 5).Draw(rt, "pieces")
		on := rapid.Bool().Draw(rt, "on")
		cuts := map[int]bool{}
		in := ""
		for _, p := range pieces {
			if p.paste {
				p.text = openPaste + p.text + closePaste
			}
			in += p.text
		}
		for range rapid.IntRange(0, 6).Draw(rt, "cuts") {
			cuts[rapid.IntRange(0, len(in)).Draw(rt, "cut")] = true
		}
		want, at := "", 0
		for _, p := range pieces {
			switch {
			case !p.paste:
				want += p.text
				at += len(p.text)
				continue
			case on:
				want += openPaste + p.text + closePaste
			case cuts[at+1] || cuts[at+2]:
				want += openPaste + bare(p.text)
			default:
				want += bare(p.text)
			}
			at += len(openPaste + p.text + closePaste)
		}
		got, pending := "", false
		attached(t, nil, func(a *attachment) {
			if on {
				a.daemon.prints("\x1b[?2004h")
				synctest.Wait()
			}
			from := 0
			for at := range len(in) + 1 {
				if cuts[at] || at == len(in) {
					a.types(in[from:at])
					from = at
				}
			}
			got, pending = a.daemon.typed(), a.client.typing.pending
		})
		if got != want || pending {
			rt.Fatalf("%q cut at %v: %q, want %q; leader %v", in, cuts, got, want, pending)
		}
	})
}

func TestPasteInScrollModeIsItsOwn(t *testing.T) {
	attached(t, func(a *attachment) { a.daemon.term.Write([]byte(strings.Repeat("line\r\n", 50))) }, func(a *attachment) {
		a.types(scrollKey + openPaste + "qqq" + closePaste + "q" + openPaste + "x\x03" + closePaste)
		require.Equal(t, "x", a.daemon.typed(), "in one read")
	})
}

func TestPasteIsNotGuessed(t *testing.T) {
	guessing(t, func(a *attachment) {
		a.types("c")
		require.Equal(t, "$ ec", first(a.term.text()))
		a.types(openPaste + "ho" + closePaste)
		require.Equal(t, "$ ec", first(a.term.text()))
		require.Equal(t, "echo", a.daemon.typed())
		a.answers("cho")
		require.Equal(t, "$ echo", first(a.term.text()))
	})
}

func TestReadOnlyPasteIsNotSent(t *testing.T) {
	attached(t, func(a *attachment) { a.opts.Attach.ReadOnly = true }, func(a *attachment) {
		a.types(openPaste + lead + "d\x03" + closePaste + openPaste + "\x03" + closePaste)
		require.Zero(t, a.daemon.inputs)
		require.Contains(t, a.term.text(), "read-only")
	})
}
