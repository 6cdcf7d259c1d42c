package brokeripc

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

// asking gives both ends of a conversation with a person, and how that person is asked for a stream that waits.
func asking(t *testing.T) (*Client, *Server, ports.Ask) {
	t.Helper()
	a, b := simnet.Pipe(1 << 16)
	accepted := make(chan *Server)
	go func() {
		s, err := Accept(context.Background(), b, testBroker())
		require.NoError(t, err)
		accepted <- s
	}()
	c, err := dialOpening(context.Background(), a, true, nil)
	require.NoError(t, err)
	s := <-accepted
	go func() { _, _ = c.OpenStream(t.Context(), "host", protocol.ExistingOnly, nil) }() // it waits
	r, err := s.Accept(t.Context())
	require.NoError(t, err)
	return c, s, r.Ask()
}

func TestPromptsAreAnswered(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s, ask := asking(t)
		type outcome struct {
			text string
			err  error
		}
		ends := map[string]chan outcome{}
		for _, q := range []string{"one", "two", "three"} {
			end := make(chan outcome, 1)
			ends[q] = end
			go func() {
				answer, err := ask(t.Context(), protocol.Prompt{Host: "host", Text: q, Echo: q == "two"})
				end <- outcome{string(answer), err}
			}()
		}
		for range 3 {
			q := <-c.Prompts()
			require.Equal(t, q.Text == "two", q.Echo)
			reply := &protocol.PromptReply{Prompt: q.Prompt, Answer: []byte("to " + q.Text), Cancel: q.Text == "three"}
			c.Reply(reply)
			c.Reply(reply) // once too often: it is late
		}
		require.Equal(t, outcome{text: "to one"}, <-ends["one"])
		require.Equal(t, outcome{text: "to two"}, <-ends["two"])
		require.Equal(t, fault.Canceled, fault.KindOf((<-ends["three"]).err))

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := ask(ctx, protocol.Prompt{Text: "nobody looks"})
		require.Equal(t, fault.Canceled, fault.KindOf(err))
		require.Empty(t, s.prompts)

		time.AfterFunc(time.Second, func() { _ = c.Close() })
		_, err = ask(t.Context(), protocol.Prompt{Text: "gone"})
		require.Equal(t, fault.Canceled, fault.KindOf(err), "a client that goes answers nothing")
		_, err = ask(t.Context(), protocol.Prompt{Text: "gone before"})
		require.Equal(t, fault.Canceled, fault.KindOf(err))
		_ = s.Close(protocol.Failure{})
	})
}

func TestPromptsAreBounded(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s, ask := asking(t)
		for i := range protocol.MaxPrompts {
			go func() { _, _ = ask(t.Context(), protocol.Prompt{Text: fmt.Sprint(i)}) }()
		}
		synctest.Wait()
		_, err := ask(t.Context(), protocol.Prompt{Text: strings.Repeat("x", 10)})
		require.Equal(t, fault.Limit, fault.KindOf(err))
		require.NoError(t, c.Close())
		_ = s.Close(protocol.Failure{})
	})
}

func TestWhoOffersNoPersonIsNotAsked(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a, b := simnet.Pipe(1 << 16)
		c, s := connect(t, a, b)
		go func() { _, _ = c.OpenStream(t.Context(), "host", protocol.ExistingOnly, nil) }()
		r, err := s.Accept(t.Context())
		require.NoError(t, err)
		require.Nil(t, r.Ask())
		s.conn.mu.Lock()
		s.post(&protocol.Prompt{Text: "all the same"})
		s.conn.mu.Unlock()
		synctest.Wait()
		require.Equal(t, fault.Violation, fault.KindOf(c.Err()))
		_ = s.Close(protocol.Failure{})
		require.NoError(t, c.Close())
	})
}
