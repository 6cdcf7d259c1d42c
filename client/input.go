package client

import (
	"context"
	"io"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/talk"
)

// MaxAuthor is how many bytes an author's name has at the most.
const MaxAuthor = protocol.MaxAuthorBytes

// Guard is what must hold while something is typed: it is typed as a whole while that holds, or not at all, and the error is
// of kind Conflict. The zero value guards nothing.
type Guard struct {
	// Generation of the session, which grows when another program or command gets its terminal; 0 is any.
	Generation uint64
	// AtPrompt: its shell waits for a command, and nothing has been typed yet.
	AtPrompt bool
}

// Guarded is the session, typed into only while g holds.
func (s *Session) Guarded(g Guard) *Session {
	guarded := *s
	guarded.only = g
	return &guarded
}

// input is one input as a request, from the client's author and guarded. What has begun is not guarded again.
func (s *Session) input(body protocol.RequestBody) protocol.RequestBody {
	guarded := &protocol.Guarded{Generation: s.only.Generation, AtPrompt: s.only.AtPrompt}
	switch b := body.(type) {
	case *protocol.Type:
		b.Author, guarded.Type = s.c.o.Author, b
	case *protocol.Keys:
		b.Author, guarded.Keys = s.c.o.Author, b
	case *protocol.Paste:
		b.Author, guarded.Paste = s.c.o.Author, b
	}
	if s.only == (Guard{}) {
		return body
	}
	return guarded
}

// Type gives text to the program as it is: nothing is added, not even Enter. It returns once the program's terminal
// has taken it. Guarded, it is at most 64 KiB.
func (s *Session) Type(ctx context.Context, text string) error {
	if s.only != (Guard{}) && len(text) > protocol.MaxInputBytes {
		return fault.New(fault.Limit, "a guarded text has at most %d bytes, this one %d", protocol.MaxInputBytes, len(text)).
			WithHint("a paste takes any size")
	}
	return s.with(ctx, func(t *talk.Talk) error {
		for len(text) > 0 {
			n := min(len(text), protocol.MaxInputBytes)
			if _, err := t.Ask(0, s.input(&protocol.Type{Session: s.at.Name, Data: []byte(text[:n])})); err != nil {
				return err
			}
			text = text[n:]
		}
		return nil
	})
}

// Press presses named keys, like Enter, C-c, M-x, F5, Up, encoded for the modes that the program has set.
func (s *Session) Press(ctx context.Context, keys ...string) error {
	if len(keys) == 0 {
		return nil
	}
	_, err := s.ask(ctx, 0, s.input(&protocol.Keys{Session: s.at.Name, Names: keys}))
	return err
}

// Paste gives all that from has to the program as a terminal's paste: between markers where the program asked
// for them, without control characters. It goes at the pace at which the program reads; a guard counts for its beginning.
func (s *Session) Paste(ctx context.Context, from io.Reader) error {
	return s.with(ctx, func(t *talk.Talk) error {
		return t.Paste(s.at.Name, from, func(chunk *protocol.Paste) protocol.RequestBody { return s.input(chunk) })
	})
}

// Lock lets only attached people type, or everybody again: Type, Press, Paste and Run are refused as Denied meanwhile.
func (s *Session) Lock(ctx context.Context, locked bool) error {
	_, err := s.ask(ctx, 0, &protocol.Lock{Session: s.at.Name, Locked: locked, Author: s.c.o.Author})
	return err
}
