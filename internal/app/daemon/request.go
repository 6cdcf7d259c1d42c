package daemon

import (
	"context"
	"regexp"
	"sync"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/keys"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// requests are the running requests of one conversation: a goroutine each, so that the
// receiver never waits for an answer to be made or sent.
type requests struct {
	ctx  context.Context
	d    *Daemon
	conn ports.SessionServerConn
	// bulk is how many bytes of history one answer may have now, 0: any. Behind a larger one an
	// echo would wait. nil: the conversation is for requests alone.
	bulk func() int
	wg   sync.WaitGroup
	// looksOnly lets only requests be answered that change nothing: a read-only client's.
	looksOnly bool // set before the first request

	mu      sync.Mutex
	running map[uint64]context.CancelFunc
	pasting map[*session]keys.Paste // pastes that have begun and not ended
}

func newRequests(ctx context.Context, d *Daemon, conn ports.SessionServerConn) *requests {
	return &requests{ctx: ctx, d: d, conn: conn, running: map[uint64]context.CancelFunc{}, pasting: map[*session]keys.Paste{}}
}

// receive handles a conversation of requests alone.
func (r *requests) receive() error {
	for {
		m, err := r.conn.Receive()
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case *protocol.Request:
			err = r.start(m)
		case *protocol.Cancel:
			r.cancel(m.ID)
		default:
			err = fault.New(fault.Violation, "a conversation of requests got %T", m)
		}
		if err != nil {
			return err
		}
	}
}

// start begins m. One request above protocol.MaxRequestsPerConn is refused; a peer that goes
// on without reading the refusals breaks the protocol.
func (r *requests) start(m *protocol.Request) error {
	timeout := m.Timeout
	if timeout == 0 {
		timeout = protocol.RequestTimeout
	}
	ctx, cancel := context.WithTimeout(r.ctx, timeout)
	r.mu.Lock()
	running := len(r.running)
	_, twice := r.running[m.ID]
	if !twice && running < 2*protocol.MaxRequestsPerConn {
		r.running[m.ID] = cancel
	}
	r.mu.Unlock()
	if twice || running >= 2*protocol.MaxRequestsPerConn {
		cancel()
		return fault.New(fault.Violation, "request %d: %d requests are running, %d may be", m.ID, running, protocol.MaxRequestsPerConn)
	}
	body := m.Body
	id := m.ID
	r.wg.Go(func() {
		defer cancel()
		var result protocol.ResultBody
		err := error(fault.New(fault.Limit, "%d requests are running, the most there can be", running).
			WithHint("wait for one to end"))
		if running < protocol.MaxRequestsPerConn {
			result, err = r.answer(ctx, body)
			r.d.audit(body, err)
		}
		r.send(id, result, err)
		r.mu.Lock()
		delete(r.running, id)
		r.mu.Unlock()
	})
	return nil
}

// send answers; an answer that does not fit is refused in its place. A lost connection is the
// receiver's to notice.
func (r *requests) send(id uint64, body protocol.ResultBody, err error) {
	if sent := r.conn.Send(newResult(id, body, err)); fault.KindOf(sent) == fault.Limit {
		_ = r.conn.Send(newResult(id, nil, fault.New(fault.Limit, "the answer is larger than one message may be").
			WithHint("ask for fewer lines")))
	}
}

func newResult(id uint64, body protocol.ResultBody, err error) *protocol.Result {
	if err == nil {
		return &protocol.Result{ID: id, Body: body}
	}
	outcome := protocol.OutcomeFailed
	if fault.KindOf(err) == fault.Unknown {
		outcome = protocol.OutcomeUnknown
	}
	return &protocol.Result{ID: id, Outcome: outcome, Failure: protocol.FailureOf(err)}
}

func (r *requests) cancel(id uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if cancel := r.running[id]; cancel != nil {
		cancel()
	}
}

// wait cancels what runs and waits for it. The conversation must be closed, or its peer
// reading.
func (r *requests) wait() {
	r.mu.Lock()
	for _, cancel := range r.running {
		cancel()
	}
	r.mu.Unlock()
	r.wg.Wait()
	for s := range r.pasting {
		s.endPaste()
	}
}

func (s *session) endPaste() {
	s.mu.Lock()
	defer s.mu.Unlock()
	var p keys.Paste
	s.input.reply(p.End(nil, s.term.Modes()))
}

// answer does what a request asks; what takes several requests is kept here.
func (r *requests) answer(ctx context.Context, body protocol.RequestBody) (protocol.ResultBody, error) {
	if r.looksOnly && changes(body) {
		return nil, fault.New(fault.Denied, "a read-only client may look, search and copy, no more")
	}
	switch b := body.(type) {
	case *protocol.Paste:
		return nil, r.paste(ctx, b, guard{})
	case *protocol.Guarded:
		g := guard{generation: b.Generation, atPrompt: b.AtPrompt}
		switch {
		case b.Paste != nil:
			return nil, r.paste(ctx, b.Paste, g)
		case b.Type != nil:
			return nil, r.d.with(b.Type.Session, func(s *session) error { return s.give(ctx, b.Type.Data, g) })
		}
		return nil, r.d.with(b.Keys.Session, func(s *session) error { return s.press(ctx, b.Keys.Names, g) })
	}
	result, err := r.d.answer(ctx, body)
	if lines, ok := result.(*protocol.Lines); ok && r.bulk != nil {
		if limit := r.bulk(); limit > 0 {
			cut(lines, limit)
		}
	}
	return result, err
}

// paste gives a chunk of a paste. What must hold counts where it begins; a paste that has begun goes on.
func (r *requests) paste(ctx context.Context, b *protocol.Paste, g guard) error {
	s, err := r.d.find(b.Session)
	if err != nil {
		return err
	}
	if !b.Begin {
		g = guard{}
	}
	return s.give(ctx, r.clean(s, b), g)
}

// with does something with the session that a request names.
func (d *Daemon) with(name string, do func(*session) error) error {
	s, err := d.find(name)
	if err != nil {
		return err
	}
	return do(s)
}

// changes reports whether a request may change something.
func changes(body protocol.RequestBody) bool {
	switch body.(type) {
	case nil, *protocol.List, *protocol.Clients, *protocol.Capture, *protocol.History, *protocol.Search, *protocol.Wait, *protocol.Await, *protocol.ReadRun, *protocol.Stats:
		return false
	}
	return true
}

// clean returns a chunk of a paste as a terminal would give it, and notes that the paste is open, so that one which is
// cut off is ended: the program would take everything that is typed from then on for text.
func (r *requests) clean(s *session, b *protocol.Paste) []byte {
	m := s.modes()
	r.mu.Lock()
	defer r.mu.Unlock()
	state, open := r.pasting[s]
	data := make([]byte, 0, len(b.Data)+16)
	if b.Begin {
		data = state.Begin(data, m)
	}
	data = state.Append(data, b.Data)
	switch {
	case b.End:
		data = state.End(data, m)
		delete(r.pasting, s)
	case b.Begin || open:
		r.pasting[s] = state
	}
	return data
}

// answer does what a request asks.
func (d *Daemon) answer(ctx context.Context, body protocol.RequestBody) (protocol.ResultBody, error) {
	switch b := body.(type) {
	case nil:
		return nil, fault.New(fault.Unsupported, "this daemon does not know the request").WithHint("upgrade the host's vev")
	case *protocol.New:
		s, err := d.create(b.Create)
		if err != nil {
			return nil, err
		}
		info, _ := s.row(placed) // what it does it is only about to do
		return &protocol.Sessions{List: []domain.SessionInfo{info}}, nil
	case *protocol.List:
		with := looked
		if b.Brief {
			with = brief
		}
		return &protocol.Sessions{List: d.list(with)}, nil
	case *protocol.Rename:
		return nil, d.rename(b.Session, b.Name)
	case *protocol.Clients:
		return d.clients(b.Session)
	case *protocol.Stats:
		return &protocol.StatsResult{Stats: d.stats()}, nil
	}
	s, err := d.find(target(body))
	if err != nil {
		return nil, err
	}
	switch b := body.(type) {
	case *protocol.Kill:
		s.kill(ctx)
		return nil, nil
	case *protocol.DetachAll:
		s.detachAll()
		return nil, nil
	case *protocol.DetachClient:
		return nil, s.detachClient(b.Client)
	case *protocol.SetSize:
		return nil, s.setSize(b)
	case *protocol.Type:
		return nil, s.give(ctx, b.Data, guard{})
	case *protocol.Keys:
		return nil, s.press(ctx, b.Names, guard{})
	case *protocol.Await:
		return s.awaitAny(ctx, b)
	case *protocol.RunCommand:
		return s.start(ctx, b)
	case *protocol.ReadRun:
		return s.read(ctx, b)
	case *protocol.Lock:
		return nil, s.lock(b)
	case *protocol.Capture:
		return s.capture(b), nil
	case *protocol.History:
		return s.history(b)
	case *protocol.Search:
		return s.find(ctx, b)
	case *protocol.Wait:
		return s.await(ctx, b)
	}
	return nil, fault.New(fault.Unsupported, "this daemon does not know the request %T", body)
}

// target is the session that a request names.
func target(body protocol.RequestBody) string {
	switch b := body.(type) {
	case *protocol.Kill:
		return b.Session
	case *protocol.DetachAll:
		return b.Session
	case *protocol.DetachClient:
		return b.Session
	case *protocol.SetSize:
		return b.Session
	case *protocol.Type:
		return b.Session
	case *protocol.Keys:
		return b.Session
	case *protocol.Capture:
		return b.Session
	case *protocol.History:
		return b.Session
	case *protocol.Search:
		return b.Session
	case *protocol.Wait:
		return b.Session
	case *protocol.Await:
		return b.Session
	case *protocol.RunCommand:
		return b.Session
	case *protocol.ReadRun:
		return b.Session
	case *protocol.Lock:
		return b.Session
	}
	return ""
}

// press types named keys in the form the program's modes ask for: all of them or none.
func (s *session) press(ctx context.Context, names []string, g guard) error {
	m := s.modes()
	var data []byte
	for _, name := range names {
		e, err := keys.Parse(name)
		if err != nil {
			return err
		}
		before, exact := len(data), false
		if data, exact = keys.AppendKey(data, e, m); !exact || len(data) == before {
			return fault.New(fault.Usage, "the program's terminal modes have no form for key %q", fault.Clean(name)).
				WithHint("a program asks for one with modifyOtherKeys or the kitty keyboard protocol")
		}
	}
	return s.give(ctx, data, g)
}

func (s *session) modes() vt.Modes {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.term.Modes()
}

// await is the server's side of vev wait.
func (s *session) await(ctx context.Context, b *protocol.Wait) (*protocol.WaitResult, error) {
	switch {
	case b.Exit:
		return s.awaitExit(ctx)
	case b.Idle > 0:
		return s.awaitIdle(ctx, b.Idle)
	}
	re, err := regexp.Compile(b.Text)
	if err != nil {
		return nil, fault.New(fault.Usage, "bad pattern: %s", err.Error()).WithHint("the syntax is RE2, as in Go and grep -E")
	}
	return s.awaitText(ctx, re)
}

func (s *session) awaitExit(ctx context.Context) (*protocol.WaitResult, error) {
	select {
	case <-s.ended:
		return &protocol.WaitResult{Met: true, Exit: s.status()}, nil
	case <-ctx.Done():
		return nil, waited(ctx)
	}
}

func (s *session) status() domain.ExitStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.exit
}

// waited is the answer of a wait that did not come true.
func waited(ctx context.Context) error {
	if context.Cause(ctx) == context.DeadlineExceeded {
		return fault.New(fault.Timeout, "timed out")
	}
	return fault.New(fault.Canceled, "canceled")
}

// awaitIdle waits until the program has printed nothing for idle; an ended one is idle.
func (s *session) awaitIdle(ctx context.Context, idle time.Duration) (*protocol.WaitResult, error) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		s.mu.Lock()
		left := time.Until(s.lastOutput.Add(idle))
		finished := s.finished
		s.mu.Unlock()
		if left <= 0 || finished {
			return &protocol.WaitResult{Met: true}, nil
		}
		timer.Reset(left)
		select {
		case <-timer.C:
		case <-s.ended:
		case <-ctx.Done():
			return nil, waited(ctx)
		}
	}
}
