package sshstdio

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain/fault"
)

// However what a shell says is cut into reads, the helper's bytes come whole, and none of the shell's.
func TestTheGreetingIsPassed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chatter := rapid.StringMatching(`(vev-carriage begins|[a-z \n\x00]){0,300}`).Draw(t, "chatter")
		helper := rapid.StringMatching(`[a-z\n\x00]{0,100}`).Draw(t, "helper's")
		src := io.Reader(strings.NewReader(chatter + "\n" + beginsLine + helper))
		if rapid.Bool().Draw(t, "by bytes") {
			src = iotest.OneByteReader(src)
		}
		c := &carriage{}
		require.NoError(t, c.greeting.pass(src))
		rest, err := io.ReadAll(src)
		require.NoError(t, err)
		require.Equal(t, helper, string(c.greeting.rest)+string(rest))
		require.Equal(t, chatter+"\n", string(c.greeting.said))
	})
}

// A read that was interrupted loses nothing.
func TestAnInterruptedGreetingGoesOn(t *testing.T) {
	var g greeting
	require.ErrorIs(t, g.pass(io.MultiReader(strings.NewReader("hello\nvev-carr"), iotest.ErrReader(os.ErrDeadlineExceeded))), os.ErrDeadlineExceeded)
	require.NoError(t, g.pass(strings.NewReader("iage begins here\nX")))
	require.Equal(t, "X", string(g.rest))
	require.Equal(t, "hello", g.firstLine())
}

func TestTheGreetingsBound(t *testing.T) {
	var g greeting
	require.NoError(t, g.pass(strings.NewReader(strings.Repeat("x", maxGreeting-len(beginsLine))+beginsLine)))
	g = greeting{}
	err := g.pass(strings.NewReader(strings.Repeat("x", maxGreeting-len(beginsLine)+1) + beginsLine))
	require.Equal(t, fault.Violation, fault.KindOf(err))
	require.LessOrEqual(t, cap(g.said), maxGreeting)
}

func TestNoVevAndNoHelper(t *testing.T) {
	var g greeting
	require.Equal(t, io.EOF, g.pass(iotest.OneByteReader(strings.NewReader("hi\n"+absentLine+"more"))))
	require.True(t, g.absent)
	g = greeting{}
	require.Equal(t, io.EOF, g.pass(strings.NewReader("\n\n  closed\x1b[2J\nmore")))
	require.False(t, g.absent)
	require.Equal(t, "closed [2J", g.firstLine())
	g = greeting{}
	broken := errors.New("broken")
	require.Equal(t, broken, g.pass(iotest.ErrReader(broken)))
	require.Empty(t, g.firstLine())
}

func TestTheEndOfWhatWasSaidIsKept(t *testing.T) {
	var s tail
	for range 10 {
		_, _ = s.Write([]byte(strings.Repeat("x", maxSaid/2)))
	}
	_, _ = s.Write([]byte("end"))
	require.Len(t, s.kept, maxSaid)
	require.Equal(t, "xend", string(s.kept[maxSaid-4:]))
}
