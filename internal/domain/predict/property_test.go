package predict

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// secrets are typed where nothing echoes, and nowhere else; no program prints them by itself.
const secrets = "pqr"

// shell reads a line with echo and a secret by turns.
type shell struct {
	*editor
	secret program
}

func newShell(mask string, overwrite bool) *shell {
	s := &shell{editor: &editor{prompt: "$ ", overwrite: overwrite}}
	s.onEnter = func(string) (program, string) {
		s.secret = &silent{mask: mask}
		return nil, "\r\nSECRET: "
	}
	return s
}

func (s *shell) input(b byte) string {
	if s.secret == nil {
		return s.editor.input(b)
	}
	if b == '\r' {
		s.secret = nil
		return "\r\n$ "
	}
	return s.secret.input(b)
}

// Under any program, any order of arrival and any cut of its output: what was guessed leaves the screen once it is
// settled, a secret is never on it, and in the end the user sees the daemon's screen.
func TestGuessesNeverOutliveTheirAnswer(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cols := rapid.IntRange(8, 40).Draw(rt, "cols")
		mask := rapid.SampledFrom([]string{"", "*", "•"}).Draw(rt, "mask")
		w := newWorld(newShell(mask, rapid.Bool().Draw(rt, "overwrite")), cols, 6)
		w.output = "$ "
		w.settles()
		secret := false
		check := func() {
			for _, r := range secrets {
				require.NotContains(rt, w.seen(), string(r))
			}
			settled := w.p.acked == w.p.echo
			for _, k := range w.p.flight[w.p.based:max(w.p.based, w.p.guessed)] {
				require.False(rt, w.p.confirmed && settled && k.end <= w.p.echo, "a settled key is still shown")
			}
			if w.p.echo == w.typed {
				require.Empty(rt, w.p.Rows())
			}
			if !w.p.confirmed {
				require.Empty(rt, w.p.Rows())
			}
		}
		press := func(key string) {
			w.types(key)
			check()
		}
		rt.Repeat(map[string]func(*rapid.T){
			"": func(*rapid.T) { check() },
			"type": func(t *rapid.T) {
				if secret {
					press(rapid.SampledFrom(strings.Split(secrets+"*•", "")).Draw(t, "secret"))
				} else {
					press(rapid.SampledFrom(strings.Split("abc 漢", "")).Draw(t, "key"))
				}
			},
			"edit": func(t *rapid.T) {
				press(rapid.SampledFrom([]string{"\x7f", "\x1b[D", "\x1b[D", "\x1b[C", "\x01"}).Draw(t, "key"))
			},
			"enter": func(t *rapid.T) {
				if rapid.IntRange(0, 3).Draw(t, "often") == 0 {
					press("\r")
					secret = !secret
				}
			},
			"noise": func(t *rapid.T) {
				w.output += rapid.SampledFrom([]string{
					"XY", "\r\nZ", "\x1b[H", "\x1b7\x1b[3;4HQ\x1b8", "\x1b[2J", "\x1b[5C", "\b", "\x1bM", "\x1b[L", "\x1b[?1049h", "\x1b[?1049l",
				}).Draw(t, "output")
			},
			"write":  func(*rapid.T) { w.writes() },
			"answer": func(t *rapid.T) { w.answers(rapid.IntRange(1, 6).Draw(t, "bytes")) },
			"ripen":  func(*rapid.T) { w.ripens() },
			"draw": func(*rapid.T) {
				if len(w.toClient) < 8 {
					w.draws()
				}
			},
			"show": func(*rapid.T) {
				w.now = w.now.Add(100 * time.Millisecond)
				w.shows()
				check()
			},
		})
		w.settles()
		check()
		require.Empty(rt, w.p.Rows())
		_, _, moved := w.p.Cursor()
		require.False(rt, moved)
	})
}

// Any bytes may be typed, anywhere.
func FuzzTyped(f *testing.F) {
	f.Add([]byte("abc\x7f\x1b[D漢\r\x1bOC"), []byte("$ x\r\n"))
	f.Fuzz(func(t *testing.T, keys, output []byte) {
		keys = keys[:min(len(keys), 500)]
		w := newWorld(&editor{}, 9, 3)
		w.p.confirmed = true
		for i, b := range keys {
			w.types(string(b))
			w.seen()
			if i%3 == 0 {
				w.writes()
				w.output += string(output[min(i, len(output)):min(i+3, len(output))])
				w.answers(7)
				w.draws()
			}
			if i%5 == 0 {
				w.shows()
			}
		}
		w.settles()
		require.Empty(t, w.p.Rows())
	})
}
