package client

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/protocol"
)

func TestCacheGivesBackWhatWasPut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c lineCache
		want := map[uint64]protocol.Line{}
		for range rapid.IntRange(1, 300).Draw(t, "lines") {
			l := protocol.Line{
				N: uint64(rapid.IntRange(0, 400).Draw(t, "n")), Text: rapid.StringMatching(`[a-z日]{0,20}`).Draw(t, "text"),
				Wrapped: rapid.Bool().Draw(t, "wrapped"),
			}
			for range rapid.IntRange(0, 2).Draw(t, "runs") {
				l.Runs = append(l.Runs, protocol.Run{
					Col: rapid.IntRange(1, 1000).Draw(t, "col"), Len: rapid.IntRange(1, 1000).Draw(t, "len"), Fg: rapid.Uint32().Draw(t, "fg"),
					Underline: uint8(rapid.IntRange(0, 5).Draw(t, "underline")), Attrs: protocol.RunAttrs(rapid.IntRange(0, 255).Draw(t, "attrs")),
					Link: rapid.SampledFrom([]string{"", "http://x"}).Draw(t, "link"),
				})
			}
			want[l.N] = l
			c.put(&l)
			if rapid.IntRange(0, 50).Draw(t, "drop") == 0 {
				from := uint64(rapid.IntRange(0, 400).Draw(t, "from"))
				c.drop(from)
				for n := range want {
					if n >= from {
						delete(want, n)
					}
				}
			}
		}
		var got cachedLine
		for n := range uint64(401) {
			l, ok := want[n]
			require.Equal(t, ok, c.get(n, &got), n)
			require.Equal(t, ok, c.has(n), n)
			if ok {
				require.Equal(t, l.Text, string(got.text))
				require.Equal(t, l.Wrapped, got.wrapped)
				require.Equal(t, append([]protocol.Run{}, l.Runs...), append([]protocol.Run{}, got.runs...))
			}
		}
		require.Equal(t, len(want), c.lines)
		c.spoil(0)
		for n := range want {
			require.True(t, c.keeps(n))
			require.False(t, c.has(n), "what is stale is asked for again")
		}
	})
}

func TestCacheKeepsItsBounds(t *testing.T) {
	var c lineCache
	for n := range uint64(maxCacheLines + 1) {
		c.put(&protocol.Line{N: n, Text: "x"})
	}
	require.LessOrEqual(t, c.lines, maxCacheLines)
	require.False(t, c.has(0), "the oldest went")
	require.True(t, c.has(pageLines))
	require.True(t, c.has(maxCacheLines))

	c = lineCache{}
	text := strings.Repeat("x", 60_000)
	for n := range uint64(1000) {
		c.put(&protocol.Line{N: n, Text: text})
	}
	require.LessOrEqual(t, c.bytes, maxCacheBytes+2*pageLines*maxPackedLine, "one page may be beyond it")
	require.True(t, c.has(999))
	require.False(t, c.has(0))

	c = lineCache{}
	for range 1000 { // one line, over and over
		c.put(&protocol.Line{N: 7, Text: text})
	}
	require.Less(t, c.bytes, 8*len(text))
}

func TestALineThatIsTooLongLosesLinksThenStyles(t *testing.T) {
	var c lineCache
	l := protocol.Line{N: 1, Text: "text"}
	for i := range 1000 {
		l.Runs = append(l.Runs, protocol.Run{Col: i + 1, Len: 1, Fg: 1 << 25, Link: strings.Repeat("x", 100)})
	}
	c.put(&l)
	var got cachedLine
	require.True(t, c.get(1, &got))
	require.Len(t, got.runs, 1000)
	require.Empty(t, got.runs[0].Link)

	for i := range l.Runs {
		l.Runs[i].Link = ""
	}
	l.Text = strings.Repeat("x", protocol.MaxLineBytes)
	c.put(&l)
	require.True(t, c.get(1, &got))
	require.Len(t, got.text, protocol.MaxLineBytes)
	require.LessOrEqual(t, len(packLine(nil, &l)), maxPackedLine)
}

func TestTextOfAPeerIsData(t *testing.T) {
	var c lineCache
	c.put(&protocol.Line{N: 1, Text: "a\x1b[2Jb\u009bc", Runs: []protocol.Run{{Col: 1, Len: 1, Link: "x\x1b\\y"}}})
	var got cachedLine
	require.True(t, c.get(1, &got))
	require.Equal(t, "a?[2Jb?c", string(got.text))
	require.Equal(t, "x?\\y", got.runs[0].Link)
}

func TestTooManyLinesAreNotCopied(t *testing.T) {
	s := newScroller(newOutbox(new(contact), make(chan struct{}, 1)), func() {})
	s.live.pane.Cols, s.live.pane.Rows = 80, 24
	s.live.win = s.live.pane
	s.live.top = maxCopyLines
	s.on = true
	s.sel = selection{selChars, place{line: 0}}
	s.cur = place{line: maxCopyLines}
	s.copy(false)
	require.Equal(t, fmt.Sprintf("%d lines are selected, at most %d can be copied", maxCopyLines+1, maxCopyLines), s.note)
	s.cur.line--
	s.copy(false)
	require.Equal(t, "copying ...", s.note)
}

// The engine's attributes and the protocol's are numbered alike, which lineOf relies on.
func TestAttributesAreNumberedAlike(t *testing.T) {
	for _, c := range []struct {
		engine vt.Attrs
		wire   protocol.RunAttrs
	}{
		{vt.Bold, protocol.AttrBold},
		{vt.Dim, protocol.AttrDim},
		{vt.Italic, protocol.AttrItalic},
		{vt.Blink, protocol.AttrBlink},
		{vt.Inverse, protocol.AttrInverse},
		{vt.Hidden, protocol.AttrHidden},
		{vt.Strike, protocol.AttrStrike},
		{vt.Overline, protocol.AttrOverline},
	} {
		require.Equal(t, c.wire, protocol.RunAttrs(c.engine))
	}
}
