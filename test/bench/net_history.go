//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/vev-term/vev/internal/adapters/brokeripc"
	"github.com/vev-term/vev/internal/adapters/sessionwire"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
)

// netHistory attaches to a session with a long history and to one without, and looks around in the long one.
func (b *bench) netHistory(t *table) error {
	lines := b.size(1_000_000, 50_000)
	return b.across(t, link{rtt: usualRTT}, named(vevName), func(s *site) error {
		a, err := s.talk()
		if err != nil {
			return err
		}
		defer a.close()
		mark := tag()
		for _, session := range []struct {
			name  string
			lines int
		}{{"empty", 0}, {"full", lines}} {
			program := b.program("fillpaint", fmt.Sprint(session.lines), mark)
			if err := a.create(session.name, program, lines); err != nil {
				return err
			}
		}
		if err := a.filled("full", lines); err != nil {
			return err
		}
		for i := range b.count(8, 2) + 1 {
			var took [2]float64
			for at, session := range []string{"empty", "full"} {
				d, err := s.attachTo(session, mark)
				if err != nil {
					return err
				}
				took[at] = millis(d)
				if i > 0 { // the first finds cold caches
					t.add(s.name, "attach: "+session+" ms", took[at])
				}
			}
			if i > 0 {
				t.add(s.name, "attach: full / empty", took[1]/took[0])
			}
		}
		return a.look(t, s, lines)
	})
}

func (s *site) attachTo(session, mark string) (time.Duration, error) {
	c, err := s.open(s.attach, session, nil)
	if err != nil {
		return 0, err
	}
	defer c.close()
	at, err := c.until("attach", func() bool { return c.isPainted(mark) })
	if err != nil {
		return 0, err
	}
	return at.Sub(c.start), c.drain(100 * time.Millisecond)
}

// asker is a conversation of requests with the far daemon.
type asker struct {
	broker *brokeripc.Client
	conn   *sessionwire.ClientConn
	last   uint64
}

// talk begins one through the near broker, as a command does.
func (s *site) talk() (*asker, error) {
	sockets, _ := filepath.Glob(filepath.Join(s.dir, "near/state/run-*/broker.sock"))
	if len(sockets) != 1 {
		return nil, fmt.Errorf("broker sockets: %v", sockets)
	}
	socket, err := net.Dial("unix", sockets[0])
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(s.b.ctx, patience)
	defer cancel()
	a := &asker{}
	if a.broker, err = brokeripc.Dial(ctx, socket, "bench"); err != nil {
		return nil, err
	}
	stream, err := a.broker.OpenStream(ctx, protocol.LocalHost, protocol.StartIfNeeded, nil)
	if err == nil {
		a.conn, err = sessionwire.Client(ctx, stream, "bench", protocol.FeaturePacked)
	}
	if err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

func (a *asker) close() {
	if a.conn != nil {
		_ = a.conn.Close()
	}
	_ = a.broker.Close()
}

func (a *asker) ask(body protocol.RequestBody) (protocol.ResultBody, time.Duration, error) {
	a.last++
	start := time.Now()
	if err := a.conn.Send(&protocol.Request{ID: a.last, Timeout: patience, Body: body}); err != nil {
		return nil, 0, err
	}
	m, err := a.conn.Receive()
	if err != nil {
		return nil, 0, err
	}
	r, ok := m.(*protocol.Result)
	switch {
	case !ok:
		return nil, 0, fmt.Errorf("%T in place of a result", m)
	case r.Failure != nil:
		return nil, 0, r.Failure.Fault()
	}
	return r.Body, time.Since(start), nil
}

func (a *asker) create(name string, program []string, lines int) error {
	_, _, err := a.ask(&protocol.New{Create: protocol.Create{
		Name: name, Size: domain.Size{Cols: termCols, Rows: termRows}, HistoryLines: lines,
		Command: domain.Command{Argv: program, Dir: "/", Env: []string{"TERM=xterm-256color", "LANG=C.UTF-8"}},
	}})
	return err
}

// filled waits until a session has its history.
func (a *asker) filled(session string, lines int) error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		body, _, err := a.ask(&protocol.Capture{Session: session})
		if err != nil {
			return err
		}
		if body.(*protocol.Captured).Lines.First >= uint64(lines-termRows) {
			return nil
		}
	}
	return errors.New("the history never came")
}

// look goes to the top of the history and searches all of it for what is not there, and is nearly at its begin.
func (a *asker) look(t *table, s *site, lines int) error {
	for range s.b.count(5, 1) {
		_, took, err := a.ask(&protocol.History{Session: "full", First: 0, Count: termRows})
		if err != nil {
			return err
		}
		t.add(s.name, "top ms", millis(took))
		for _, pattern := range []string{"^000007 ", "no such text"} {
			_, took, err := a.ask(&protocol.Search{Session: "full", Pattern: pattern, Line: uint64(lines), Backward: true})
			if err != nil {
				return err
			}
			t.add(s.name, "search ms", millis(took))
		}
	}
	for _, pid := range descendants(os.Getpid()) {
		if mentions(pid, "_daemon") && mentions(pid, s.dir) {
			var held cost
			held.add(pid)
			t.add(s.name, "daemon MiB", float64(held.pss)/(1<<20))
		}
	}
	return nil
}
