package brokeripc

import (
	"context"
	"crypto/rand"

	"github.com/vev-term/vev/internal/adapters/brokerwire"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// Ask implements ports.StreamRequest.
func (r *request) Ask() ports.Ask { return r.server.person() }

// person is how the client's person is asked, nil where there is none.
func (s *Server) person() ports.Ask {
	if !s.answers {
		return nil
	}
	return s.ask
}

// ask is a ports.Ask: the client's person is asked.
func (s *Server) ask(ctx context.Context, q protocol.Prompt) ([]byte, error) {
	answer := make(chan *protocol.PromptReply, 1)
	_, _ = rand.Read(q.Prompt[:]) // never fails
	c := s.conn
	c.mu.Lock()
	switch {
	case c.err != nil:
		c.mu.Unlock()
		return nil, noAnswer(c.err)
	case len(s.prompts) == protocol.MaxPrompts:
		c.mu.Unlock()
		return nil, fault.New(fault.Limit, "%d questions wait for an answer already", protocol.MaxPrompts)
	}
	s.prompts[q.Prompt] = answer
	c.reading.urgent++
	s.post(&q)
	c.offerTurn()
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.reading.urgent--
		delete(s.prompts, q.Prompt)
	}()
	select {
	case r := <-answer:
		if r.Cancel {
			return nil, noAnswer(nil)
		}
		return r.Answer, nil
	case <-c.over:
		return nil, noAnswer(c.cause())
	case <-ctx.Done():
		return nil, noAnswer(context.Cause(ctx))
	}
}

func noAnswer(cause error) error {
	return fault.Wrap(fault.Canceled, cause, "the question was not answered")
}

// replied hands an answer on, with conn.mu held. One to a question that was given up is late.
func (s *Server) replied(m *protocol.PromptReply) {
	if answer := s.prompts[m.Prompt]; answer != nil {
		delete(s.prompts, m.Prompt)
		answer <- m // has room for its one answer
	}
}

// Prompts are the questions that the broker asks, while a stream is asked for or an operation is under way: each wants a Reply. It is never closed.
func (c *Client) Prompts() <-chan *protocol.Prompt { return c.prompts }

// Reply answers a question. It does not wait.
func (c *Client) Reply(r *protocol.PromptReply) {
	c.conn.mu.Lock()
	defer c.conn.mu.Unlock()
	if c.conn.err == nil {
		c.conn.post(brokerwire.AppendClient(nil, r))
	}
}

// prompted queues a question, with conn.mu held.
func (c *Client) prompted(m *protocol.Prompt) error {
	if !c.answers {
		return fault.New(fault.Violation, "a question came that nobody offered to answer")
	}
	select {
	case c.prompts <- m:
	default:
		c.conn.post(brokerwire.AppendClient(nil, &protocol.PromptReply{Prompt: m.Prompt, Cancel: true}))
	}
	return nil
}
