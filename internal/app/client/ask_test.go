package client

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
)

// guarded dials a daemon; who comes again is asked for a word.
type guarded struct {
	*fakeDaemon
	ask     ports.Ask
	q       protocol.Prompt
	answers []string
	dials   int
}

func (g *guarded) Dial(ctx context.Context) (ports.SessionClientConn, error) {
	if g.dials++; g.dials > 1 {
		answer, err := g.ask(ctx, g.q)
		if err != nil {
			return nil, err
		}
		g.answers = append(g.answers, string(answer))
		if string(answer) != "sesame" {
			return nil, fault.New(fault.Unavailable, "wrong")
		}
	}
	return g.fakeDaemon.Dial(ctx)
}

// asking is attached with a guarded daemon.
func asking(t *testing.T, q protocol.Prompt, f func(a *attachment, g *guarded)) {
	var g *guarded
	attached(t, func(a *attachment) {
		a.opts.Asker = NewAsker()
		a.daemon.term.Write([]byte("one\r\ntwo\r\nthree\r\nfour\r\nfive"))
		g = &guarded{fakeDaemon: a.daemon, ask: a.opts.Asker.Ask, q: q}
		a.opts.Dialer = g
	}, func(a *attachment) { f(a, g) })
}

func TestAQuestionOverTheSession(t *testing.T) {
	asking(t, protocol.Prompt{Host: "far", Text: "Password:"}, func(a *attachment, g *guarded) {
		a.types("before")
		a.daemon.cut(true)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Contains(t, a.term.text(), "far: Password: (En\n ter answers, Esc g\n ives up)")
		a.types("wrong")
		a.types("\r")
		time.Sleep(time.Second)
		a.types("\x1b[200~sesa\rmore\x1b[201~")
		a.types("xy\x7f\x7fme")
		require.NotContains(t, a.term.text(), "sesa")
		time.Sleep(100 * time.Second) // a person may take their time
		a.types("\rafter")
		require.Equal(t, []string{"wrong", "sesame"}, g.answers)
		require.Equal(t, "beforeafter", a.daemon.typed())
		require.Equal(t, "one\ntwo\nthree\nfour\nfive", strings.TrimRight(a.term.text(), " \n"))
	})
}

func TestWhatIsAskedForAWordShowsTheAnswer(t *testing.T) {
	asking(t, protocol.Prompt{Host: "far", Text: "(yes/no)?", Echo: true}, func(a *attachment, g *guarded) {
		a.daemon.cut(true)
		time.Sleep(time.Second)
		a.types("nope\x15ses")
		require.Contains(t, a.term.text(), "far: (yes/no)? ses")
		a.types("ame\x1b[13u") // as a terminal with the kitty protocol sends Enter when all keys are asked for
		require.Equal(t, []string{"sesame"}, g.answers)
	})
}

func TestAQuestionThatIsDeclined(t *testing.T) {
	for _, key := range []string{"\x1b", "\x03", "\x04"} {
		asking(t, protocol.Prompt{Host: "far", Text: "Password:"}, func(a *attachment, _ *guarded) {
			a.daemon.cut(true)
			time.Sleep(time.Second)
			a.types("se" + key)
			_, err := a.ends(0)
			require.Equal(t, fault.Canceled, fault.KindOf(err), "%q", key)
			require.Empty(t, a.daemon.typed())
		})
	}
}

// The leader is the client's while a question stands, and the end of the attachment is that of the question.
func TestDetachWhileAQuestionStands(t *testing.T) {
	asking(t, protocol.Prompt{Host: "far", Text: "Password:"}, func(a *attachment, _ *guarded) {
		a.daemon.cut(true)
		time.Sleep(time.Second)
		a.types("se")
		a.types(lead + "d")
		r, err := a.ends(0)
		require.NoError(t, err)
		require.Equal(t, protocol.EndDetached, r.Reason)
	})
}

func TestQuestionsWaitForEachOther(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a := NewAsker()
		n := newNotices(DefaultLeader)
		a.attach(n)
		ctx, cancel := context.WithCancel(t.Context())
		type given struct {
			answer string
			err    error
		}
		got := make(chan given, protocol.MaxPrompts)
		for range protocol.MaxPrompts {
			go func() {
				answer, err := a.Ask(ctx, protocol.Prompt{Host: "h", Text: "?"})
				got <- given{string(answer), err}
			}()
		}
		synctest.Wait()
		_, err := a.Ask(ctx, protocol.Prompt{})
		require.Equal(t, fault.Limit, fault.KindOf(err))
		require.Equal(t, "rest", string(a.typed([]byte("a\rb\r"+strings.Repeat("\x03", protocol.MaxPrompts-3)+"c\rrest"))))
		synctest.Wait()
		answers := map[string]bool{}
		for range protocol.MaxPrompts {
			g := <-got
			if g.err == nil {
				answers[g.answer] = true
			}
		}
		require.Equal(t, map[string]bool{"a": true, "b": true, "c": true}, answers)
		require.False(t, a.active())

		go func() {
			answer, err := a.Ask(ctx, protocol.Prompt{Host: "h", Text: "?"})
			got <- given{string(answer), err}
		}()
		synctest.Wait()
		require.True(t, a.active())
		require.Empty(t, a.typed([]byte(strings.Repeat("x", protocol.MaxAnswerBytes+9))))
		require.Len(t, a.list[0].line, protocol.MaxAnswerBytes)
		cancel()
		require.Equal(t, fault.Canceled, fault.KindOf((<-got).err))
		require.False(t, a.active())
		lines, _ := n.lines(80)
		require.Empty(t, lines)
	})
}
