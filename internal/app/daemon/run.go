package daemon

import (
	"context"
	"encoding/hex"
	"sync/atomic"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/shell"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

const (
	// maxRunOutput bounds the output of a run that nobody has read yet: the oldest is dropped, and the offset says so.
	maxRunOutput = 16 << 20
	// maxRunsOutput bounds that of all runs together: beyond it a run keeps minRunOutput.
	maxRunsOutput = 128 << 20
	minRunOutput  = 64 << 10

	interruptedStatus = 128 + 2 // of a shell whose command Ctrl-C ended
)

// run is a command that was typed at the session's prompt, and its output. Guarded by the session's mu.
type run struct {
	id          uint64
	tap         shell.Tap
	data        []byte // output from offset on
	offset      uint64
	began       time.Time // when its output began, or else when it was typed
	took        time.Duration
	ended       bool
	exited      bool // the session's program ended first
	interrupted bool // Ctrl-C was typed since
	held        *atomic.Int64
}

// start types a command at the prompt, and notes that its output is to be kept.
func (s *session) start(ctx context.Context, m *protocol.RunCommand) (*protocol.RunStarted, error) {
	if err := s.checkLock(m.Generation); err != nil {
		return nil, err
	}
	done := make(chan bool, 1)
	var answer *protocol.RunStarted
	err := s.awaitPrompt(ctx, promptGrace, func(at shell.At) (bool, error) {
		if err := s.allowed(m.Generation); err != nil {
			return true, err
		}
		if !at.Marks {
			var id [8]byte
			random(id[:])
			at.ID = hex.EncodeToString(id[:])
		}
		line, err := at.Type(m.Command)
		if err != nil {
			return true, err
		}
		full, ok := s.input.pushRequest(s.entered(line), done)
		switch {
		case !ok:
			return true, s.endedFault()
		case full:
			return false, errInputWaits(s.input.size())
		}
		s.runs++
		s.run.drop()
		s.run = &run{id: s.runs, tap: shell.Tap{ID: at.ID}, began: time.Now(), held: &s.d.runBytes}
		s.emptied()
		s.usedAt(time.Now())
		answer = &protocol.RunStarted{Run: s.runs, Generation: s.generation, Size: s.size}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	return answer, s.written(ctx, done)
}

// entered is a line and Enter, as a paste where the shell takes one: then nothing in it is a key. The caller holds mu.
func (s *session) entered(line string) []byte {
	if s.term.Modes().BracketedPaste {
		return []byte("\x1b[200~" + line + "\x1b[201~\r")
	}
	return []byte(line + "\r")
}

// take gives the run the program's next output. The caller holds the session's mu.
func (r *run) take(output []byte, now time.Time) {
	if r == nil || r.ended {
		return
	}
	before, begun := len(r.data), r.tap.Begun()
	r.data = r.tap.Write(r.data, output)
	r.held.Add(int64(len(r.data) - before))
	if r.tap.Begun() && !begun {
		r.began = now
	}
	if r.tap.Ended() {
		r.end(now)
	}
	limit := maxRunOutput
	if r.held.Load() > maxRunsOutput {
		limit = minRunOutput
	}
	if len(r.data) > limit {
		r.forget(len(r.data) - limit*3/4) // not a copy for each read of the terminal
	}
}

func (r *run) end(now time.Time) {
	if !r.ended {
		r.ended, r.took = true, now.Sub(r.began)
	}
}

// close is the end of a run whose program has ended.
func (r *run) close(now time.Time) {
	if r == nil || r.ended {
		return
	}
	before := len(r.data)
	r.data = r.tap.Rest(r.data)
	r.held.Add(int64(len(r.data) - before))
	r.exited = true
	r.end(now)
}

// forget drops the first n bytes that are kept.
func (r *run) forget(n int) {
	r.held.Add(int64(-n))
	r.offset += uint64(n)
	r.data = append([]byte(nil), r.data[n:]...)
}

// drop gives everything back.
func (r *run) drop() {
	if r != nil {
		r.held.Add(-int64(len(r.data)))
		r.data = nil
	}
}

// read is the next piece of a run's output, from what is asked for on; it waits until there is one.
func (s *session) read(ctx context.Context, m *protocol.ReadRun) (*protocol.RunOutput, error) {
	changes, release := s.watch()
	defer release()
	pause := firstLook
	for {
		s.mu.Lock()
		out, err := s.piece(m)
		looks := out == nil && s.run != nil && s.run.interrupted && s.run.tap.ID != ""
		s.mu.Unlock()
		if out != nil || err != nil {
			return out, err
		}
		var again <-chan time.Time
		if looks { // the shell gave the line up, and with it the mark of its end
			if use := s.look(); s.backAtPrompt(use) {
				continue
			}
			again = time.After(pause)
			pause = min(2*pause, lastLook)
		}
		select {
		case <-changes:
		case <-again:
		case <-s.ended:
		case <-ctx.Done():
			return nil, waited(ctx)
		}
	}
}

// backAtPrompt ends an interrupted run whose shell waits for the next command.
func (s *session) backAtPrompt(use ports.TerminalUse) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := shell.Of(use.Argv)
	if kind == shell.None || !ready(kind, use) || s.input.size() > 0 {
		return false
	}
	s.run.end(time.Now())
	return true
}

// piece is what can be read now; nil: nothing yet. The caller holds mu.
func (s *session) piece(m *protocol.ReadRun) (*protocol.RunOutput, error) {
	r := s.run
	switch {
	case r == nil || r.id != m.Run:
		return nil, fault.New(fault.NotFound, "the output of run %d is kept no longer", m.Run)
	case m.Offset > r.offset+uint64(len(r.data)):
		return nil, fault.New(fault.Usage, "output from byte %d was asked for, there are %d", m.Offset, r.offset+uint64(len(r.data)))
	}
	if n := m.Offset - min(r.offset, m.Offset); n > 0 {
		r.forget(int(n))
	}
	n := min(len(r.data), protocol.MaxRunBytes)
	out := &protocol.RunOutput{Offset: r.offset, Data: append([]byte(nil), r.data[:n]...)}
	if r.ended && n == len(r.data) {
		out.Ended, out.Took, out.Exited = true, r.took, r.exited
		out.Status, out.HasStatus = r.status(s.exit)
	}
	if n == 0 && !out.Ended {
		return nil, nil
	}
	return out, nil
}

func (r *run) status(exit domain.ExitStatus) (status int, known bool) {
	if status, known = r.tap.Status(); known {
		return status, true
	}
	switch {
	case r.exited:
		return exit.ShellCode(), true
	case r.interrupted:
		return interruptedStatus, true
	}
	return 0, false
}
