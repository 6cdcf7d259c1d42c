package client

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/keys"
	"github.com/vev-term/vev/internal/protocol"
)

// Asker puts questions of ssh's to the person at an attached terminal, while the client connects again: over the session, in
// its bottom rows. From when one is there until its answer, what is typed is the answer. Any goroutine may call its methods.
type Asker struct {
	waiting atomic.Int32

	mu      sync.Mutex // a leaf, but for the notices'
	notices *notices   // nil: no terminal is attached yet
	list    []*asked   // the first is shown
	strokes strokes
}

// asked is a question and what was typed so far.
type asked struct {
	q    protocol.Prompt
	line []byte
	over chan bool // cap 1: line is the answer, or there is none
}

// NewAsker returns an asker for Options.
func NewAsker() *Asker { return &Asker{} }

// Ask is a ports.Ask: it waits for the answer until ctx ends.
func (a *Asker) Ask(ctx context.Context, q protocol.Prompt) ([]byte, error) {
	one := &asked{q: q, line: make([]byte, 0, protocol.MaxAnswerBytes), over: make(chan bool, 1)}
	a.mu.Lock()
	if len(a.list) == protocol.MaxPrompts {
		a.mu.Unlock()
		return nil, fault.New(fault.Limit, "%d questions wait for an answer already", protocol.MaxPrompts)
	}
	a.list = append(a.list, one)
	a.show()
	a.mu.Unlock()
	select {
	case given := <-one.over:
		if given {
			return one.line, nil
		}
	case <-ctx.Done():
		a.mu.Lock()
		a.drop(one)
		a.mu.Unlock()
		clear(one.line)
	}
	return nil, fault.Wrap(fault.Canceled, context.Cause(ctx), "the question was not answered")
}

// attach has questions shown by n from now on.
func (a *Asker) attach(n *notices) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.notices = n
	a.show()
}

// active reports whether what is typed is an answer. A nil Asker never asks.
func (a *Asker) active() bool { return a != nil && a.waiting.Load() > 0 }

// show brings the notice in line with the first question. The caller holds mu.
func (a *Asker) show() {
	if a.notices == nil {
		return
	}
	a.waiting.Store(int32(len(a.list)))
	if len(a.list) == 0 {
		a.strokes = strokes{}
		a.notices.ask("")
		return
	}
	one := a.list[0]
	text := one.q.Host + ": " + one.q.Text + " "
	if one.q.Echo {
		text += string(one.line) + " "
	}
	a.notices.ask(text + "(Enter answers, Esc gives up)")
}

// drop forgets a question. The caller holds mu.
func (a *Asker) drop(one *asked) {
	for i := range a.list {
		if a.list[i] == one {
			a.list = append(a.list[:i], a.list[i+1:]...)
			break
		}
	}
	a.show()
}

// typed takes what was typed while questions are open, and returns what was typed after the last answer.
func (a *Asker) typed(p []byte) (rest []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.strokes.rest) > 0 {
		p = append(a.strokes.rest, p...)
		a.strokes.rest = nil
	}
	for len(p) > 0 && len(a.list) > 0 {
		key, text, n := a.strokes.next(p)
		if n == 0 {
			a.strokes.rest = append([]byte(nil), p...)
			return nil
		}
		p = p[n:]
		a.key(key, text)
	}
	return p
}

// key does what one key, or a part of a paste, means to the first question. The caller holds mu.
func (a *Asker) key(k stroke, text string) {
	one := a.list[0]
	switch {
	case text != "":
		text, _, _ = strings.Cut(text, "\r")
		text, _, _ = strings.Cut(text, "\n")
		one.add(text)
	case k == stroke(keys.Enter) || k == stroke(keys.KPEnter) || k == ctrl('j'):
		a.settle(one, true)
		return
	case k == stroke(keys.Escape) || k == ctrl('c') || k == ctrl('d'):
		a.settle(one, false)
		return
	case k == stroke(keys.Backspace) || k == ctrl('h'):
		_, n := utf8.DecodeLastRune(one.line)
		clear(one.line[len(one.line)-n:])
		one.line = one.line[:len(one.line)-n]
	case k == ctrl('u'):
		clear(one.line)
		one.line = one.line[:0]
	case unicode.IsPrint(rune(k)):
		one.add(string(rune(k)))
	}
	a.show()
}

// add appends to the answer what still fits.
func (q *asked) add(text string) {
	if len(q.line)+len(text) <= protocol.MaxAnswerBytes {
		q.line = append(q.line, text...)
	}
}

// settle ends a question. The caller holds mu.
func (a *Asker) settle(one *asked, given bool) {
	a.drop(one)
	if !given {
		clear(one.line)
	}
	one.over <- given
}
