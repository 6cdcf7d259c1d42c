package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/render"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
)

// fakeTerminal is a user's terminal: what is written feeds an engine, what is typed waits in a bounded buffer as in the
// kernel.
type fakeTerminal struct {
	mu      sync.Mutex
	changed sync.Cond
	typed   []byte
	closed  bool
	stuck   bool // takes no bytes
	writing int  // calls of Write that wait
	raw     bool
	rawErr  error
	size    domain.Size
	vt      *vt.Terminal
	cuts    bool   // it cuts its lines instead of wrapping them anew
	out     []byte // all that was written
	writes  int
	calls   []string
	events  chan ports.TerminalEvent
	suspend func() error
	onWrite func(p []byte)
}

const terminalBuffer = 4095

func newFakeTerminal(cols, rows int) *fakeTerminal {
	t := &fakeTerminal{
		size: domain.Size{Cols: cols, Rows: rows}, events: make(chan ports.TerminalEvent, 8),
		vt: vt.New(vt.Options{Cols: cols, Rows: rows}),
	}
	t.changed.L = &t.mu
	return t
}

func (t *fakeTerminal) call(name string) {
	t.calls = append(t.calls, name)
}

func (t *fakeTerminal) Raw() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.call("raw")
	if t.rawErr != nil {
		return t.rawErr
	}
	t.raw = true
	return nil
}

func (t *fakeTerminal) Restore() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.call("restore")
	t.raw = false
	return nil
}

func (t *fakeTerminal) Read(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.typed) == 0 && !t.closed {
		t.changed.Wait()
	}
	if t.closed {
		return 0, io.ErrClosedPipe
	}
	n := copy(p, t.typed)
	t.typed = t.typed[n:]
	t.changed.Broadcast()
	return n, nil
}

// enter types p and waits while the kernel's buffer is full, until the terminal is closed.
func (t *fakeTerminal) enter(p string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(p) > 0 {
		for len(t.typed) >= terminalBuffer && !t.closed {
			t.changed.Wait()
		}
		if t.closed {
			return
		}
		n := min(len(p), terminalBuffer-len(t.typed))
		t.typed = append(t.typed, p[:n]...)
		p = p[n:]
		t.changed.Broadcast()
	}
}

func (t *fakeTerminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.writing++
	for t.stuck && !t.closed {
		t.changed.Wait()
	}
	t.writing--
	if t.closed {
		return 0, io.ErrClosedPipe
	}
	t.vt.Write(p)
	t.out = append(t.out, p...)
	t.writes++
	if t.onWrite != nil {
		t.onWrite(p)
	}
	return len(p), nil
}

func (t *fakeTerminal) Size() (domain.Size, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.size, nil
}

func (t *fakeTerminal) Events() <-chan ports.TerminalEvent { return t.events }

func (t *fakeTerminal) Suspend() error {
	t.mu.Lock()
	t.call("suspend")
	f := t.suspend
	t.mu.Unlock()
	return f()
}

func (t *fakeTerminal) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.call("close")
	t.closed, t.raw = true, false
	t.changed.Broadcast()
	return nil
}

func (t *fakeTerminal) setStuck(stuck bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stuck = stuck
	t.changed.Broadcast()
}

// resize is what the window system does to a terminal.
func (t *fakeTerminal) resize(cols, rows int) {
	t.mu.Lock()
	t.size = domain.Size{Cols: cols, Rows: rows}
	if t.cuts {
		t.vt = cut(t.vt, t.size)
	} else {
		t.vt.Resize(cols, rows)
	}
	t.mu.Unlock()
	t.events <- ports.TerminalResized
}

func (t *fakeTerminal) written() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.out)
}

// left reports whether the terminal is as it was found: cooked, on its main screen, without brackets around pastes.
func (t *fakeTerminal) left() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.raw && !t.vt.Modes().Alternate && !t.vt.Modes().BracketedPaste
}

func (t *fakeTerminal) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return screenText(t.vt)
}

// screenText is the text of a screen, a line a row.
func screenText(t *vt.Terminal) string {
	_, rows := t.Size()
	var out []byte
	for y := range rows {
		var line []byte
		for _, c := range t.Row(y).Cells() {
			switch n := len(line); {
			case c.IsSpacer():
			default:
				if line = t.AppendCell(line, c); len(line) == n {
					line = append(line, ' ')
				}
			}
		}
		out = append(append(out, bytes.TrimRight(line, " ")...), '\n')
	}
	return string(out)
}

// pipe is one conversation: bounded in both directions.
type pipe struct {
	toDaemon chan protocol.SessionClientMessage
	toClient chan protocol.SessionServerMessage
	last     chan struct{} // nothing more is taken from the client
	served   chan struct{} // what was taken was handled
	gone     chan struct{}
	why      error       // set before gone is closed; nil: errCut
	lost     atomic.Bool // what is under way at the end does not arrive
	once     sync.Once
	onClose  func()
	reports  chan protocol.LinkReport
}

func newPipe() *pipe {
	return &pipe{
		toDaemon: make(chan protocol.SessionClientMessage, 2*directMessages), toClient: make(chan protocol.SessionServerMessage, 64),
		last: make(chan struct{}), served: make(chan struct{}), gone: make(chan struct{}),
		reports: make(chan protocol.LinkReport, 1),
	}
}

func (p *pipe) Reports() <-chan protocol.LinkReport { return p.reports }

func (p *pipe) Close() error {
	p.once.Do(func() {
		close(p.gone)
		p.onClose()
	})
	return nil
}

func (p *pipe) closed() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

var errCut = errors.New("connection cut")

func (p *pipe) Send(m protocol.SessionClientMessage) error {
	select {
	case <-p.gone:
		return errCut
	case <-p.last:
		return errCut
	default:
	}
	select {
	case p.toDaemon <- cloneMessage(m):
		return nil
	case <-p.gone:
		return errCut
	case <-p.last:
		return errCut
	}
}

// cloneMessage copies what the sender will use again.
func cloneMessage(m protocol.SessionClientMessage) protocol.SessionClientMessage {
	switch m := m.(type) {
	case *protocol.Input:
		return &protocol.Input{Seq: m.Seq, Data: bytes.Clone(m.Data)}
	case *protocol.Ack:
		c := *m
		return &c
	case *protocol.Resize:
		c := *m
		return &c
	case *protocol.Focus:
		c := *m
		return &c
	case *protocol.Attach:
		c := *m
		return &c
	case *protocol.Request:
		c := *m
		return &c
	}
	return m
}

func (p *pipe) Receive() (protocol.SessionServerMessage, error) {
	select {
	case m := <-p.toClient:
		return m, nil
	default:
	}
	select {
	case m := <-p.toClient:
		return m, nil
	case <-p.gone:
		if p.why != nil {
			return nil, p.why
		}
		return nil, errCut
	}
}

func (p *pipe) Pending() bool { return len(p.toClient) > 0 }

// fakeDaemon has one session with one attachment and keeps to the protocol. Its hooks make it slow or wrong.
type fakeDaemon struct {
	mu       sync.Mutex
	changed  sync.Cond
	conn     *pipe // the newest conversation
	dials    int
	attaches []*protocol.Attach
	got      []protocol.SessionClientMessage // but Input
	input    []byte
	inputs   int // Input messages, repeated ones too
	received uint64
	written  uint64 // acknowledged
	echo     uint64 // has had its effect
	deaf     bool   // reads nothing
	mute     bool   // acknowledges no input
	name     string
	created  bool // the attach makes the session
	obedient bool // the session takes the client's size
	problem  string
	acked    protocol.Ack

	term         *vt.Terminal
	keeping      *vt.Terminal // not nil: what the session would have if no program dropped its history
	painter      *render.Painter
	epoch, state uint64
	events       []protocol.Event
	eventSeq     uint64

	dialErr func(n int) error              // of dial n, from 1
	refuse  func(n int) *protocol.Failure  // of attach n, from 1
	silent  bool                           // answers no attach
	onDial  func()                         // runs before a dial returns
	onInput func(d *fakeDaemon, in []byte) // with mu held

	asked       []protocol.RequestBody
	unanswering bool // requests get no result
	onceOnly    bool // a search ends where the lines do

	wg sync.WaitGroup
}

func newFakeDaemon(cols, rows int) *fakeDaemon {
	d := &fakeDaemon{name: "w", term: vt.New(vt.Options{Cols: cols, Rows: rows, HistoryLines: 10_000})}
	d.changed.L = &d.mu
	return d
}

func (d *fakeDaemon) Dial(ctx context.Context) (ports.SessionClientConn, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dials++
	if d.onDial != nil {
		d.onDial()
	}
	if d.dialErr != nil {
		if err := d.dialErr(d.dials); err != nil {
			return nil, err
		}
	}
	p := newPipe()
	p.onClose = func() { d.set(func() {}) }
	d.conn = p
	d.wg.Go(func() { d.serve(p) })
	return p, nil
}

func (d *fakeDaemon) serve(p *pipe) {
	defer close(p.served)
	for {
		d.mu.Lock()
		for d.deaf && !p.closed() {
			d.changed.Wait()
		}
		d.mu.Unlock()
		select {
		case m := <-p.toDaemon:
			d.handle(p, m)
		case <-p.last:
			for len(p.toDaemon) > 0 {
				d.handle(p, <-p.toDaemon)
			}
			return
		case <-p.gone:
			for !p.lost.Load() && len(p.toDaemon) > 0 { // what was sent before a close arrives
				d.handle(p, <-p.toDaemon)
			}
			return
		}
	}
}

func (d *fakeDaemon) wrong(what string) {
	if d.problem == "" {
		d.problem = what
	}
}

func (d *fakeDaemon) handle(p *pipe, m protocol.SessionClientMessage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if p != d.conn {
		return
	}
	switch m := m.(type) {
	case *protocol.Attach:
		d.attach(p, m)
	case *protocol.Input:
		d.inputs++
		d.take(p, m)
	case *protocol.Ack:
		if m.Epoch != d.epoch || m.State > d.state || m.State < d.acked.State && m.Epoch == d.acked.Epoch {
			d.wrong("bad ack")
		}
		d.acked = *m
	case *protocol.Resize:
		d.got = append(d.got, m)
		d.follow(p, m.Size)
	case *protocol.Request:
		d.asked = append(d.asked, m.Body)
		if !d.unanswering {
			d.post(p, d.answer(m))
		}
	case *protocol.Detach:
		d.got = append(d.got, m)
		d.post(p, &protocol.Ended{Reason: protocol.EndDetached})
	default:
		d.got = append(d.got, m)
	}
}

func (d *fakeDaemon) attach(p *pipe, m *protocol.Attach) {
	d.attaches = append(d.attaches, m)
	if d.silent {
		return
	}
	if d.refuse != nil {
		if f := d.refuse(len(d.attaches)); f != nil {
			d.post(p, &protocol.Refused{Failure: *f})
			return
		}
	}
	if resumed := m.Resume != nil; resumed != (len(d.attaches) > 1) || resumed && m.Resume.Token != (protocol.Token{7}) {
		d.wrong("bad resume")
	}
	if m.Resume != nil {
		d.events = slices.DeleteFunc(d.events, func(e protocol.Event) bool { return e.Seq <= m.Resume.EventSeq })
	}
	cols, rows := d.term.Size()
	d.post(p, &protocol.Attached{
		ID: domain.SessionID{1}, Name: d.name, Token: protocol.Token{7}, InputReceived: d.written,
		Size: domain.Size{Cols: cols, Rows: rows}, ReadOnly: m.ReadOnly, Created: d.created,
	})
	d.epoch, d.state, d.painter = d.epoch+1, 0, nil
	d.draw(p)
	d.follow(p, m.Size)
}

func (d *fakeDaemon) take(p *pipe, m *protocol.Input) {
	if len(m.Data) == 0 || len(m.Data) > protocol.MaxInputBytes {
		d.wrong("bad input length")
	}
	switch {
	case m.Seq == d.received+1:
		d.received++
		d.input = append(d.input, m.Data...)
		if d.onInput != nil {
			d.onInput(d, m.Data)
		}
	case m.Seq > d.received:
		d.wrong("input is missing")
	}
	d.changed.Broadcast()
	if !d.mute {
		d.written = d.received
		d.post(p, &protocol.Output{InputAcked: d.written})
	}
}

// answer does what a request asks, as the daemon does.
func (d *fakeDaemon) answer(m *protocol.Request) *protocol.Result {
	r := &protocol.Result{ID: m.ID}
	switch b := m.Body.(type) {
	case *protocol.History:
		lines := &protocol.Lines{First: max(b.First, d.term.FirstLine())}
		var line vt.Line
		for n := lines.First; n < b.First+uint64(b.Count) && d.term.ReadLine(n, &line); n++ {
			lines.List = append(lines.List, lineOf(d.term, &line))
		}
		r.Body = lines
	case *protocol.Search:
		search, err := vt.NewSearch(b.Pattern)
		if err != nil {
			r.Outcome, r.Failure = protocol.OutcomeFailed, protocol.FailureOf(err)
			break
		}
		step, otherEnd := search.Down, vt.Place{}
		if b.Backward {
			step, otherEnd = search.Up, vt.Place{Line: math.MaxUint64}
		}
		found := step(d.term, vt.Place{Line: b.Line, Col: b.Col}, math.MaxInt)
		around := b.Around && !d.onceOnly && !found.OK
		if around {
			found = step(d.term, otherEnd, math.MaxInt)
		}
		r.Body = &protocol.Found{Met: found.OK, Line: found.Match.From.Line, Col: found.Match.From.Col, Around: around}
	case nil: // asks whether the daemon is there
		r.Outcome, r.Failure = protocol.OutcomeFailed, failure(fault.Unsupported, "no body")
	default:
		d.wrong("unknown request")
	}
	return r
}

// post gives a message to the client, unless its queue is full, as of a daemon that does not wait.
func (d *fakeDaemon) post(p *pipe, m protocol.SessionServerMessage) {
	select {
	case p.toClient <- m:
	case <-p.gone:
	default:
	}
}

// draw sends the newest state. The caller holds mu.
func (d *fakeDaemon) draw(p *pipe) {
	out := &protocol.Output{Epoch: d.epoch, Base: d.state, New: d.state + 1}
	if d.painter == nil {
		d.painter, out.Full, out.Base = render.NewPainter(render.Canonical, render.Capabilities{}), true, 0
	}
	var f render.Frame
	f.SetTerminal(d.term)
	cols, rows := d.term.Size()
	out.Panes = []protocol.PaneUpdate{{
		Pane: 3, Data: d.painter.Paint(nil, &f), Size: domain.Size{Cols: cols, Rows: rows},
		ScreenTop: d.term.ScreenTop(), FirstLine: d.term.FirstLine(),
	}}
	out.Events = slices.Clone(d.events)
	out.InputAcked, out.Echo = d.written, d.echo
	d.state++
	d.post(p, out)
}

// prints is the program's output, drawn at once.
func (d *fakeDaemon) prints(s string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.write(s)
	d.draw(d.conn)
}

// write is what the session gets. The caller holds mu.
func (d *fakeDaemon) write(s string) {
	d.term.Write([]byte(s))
	if d.keeping != nil {
		d.keeping.Write([]byte(strings.ReplaceAll(s, "\x1b[3J", "")))
	}
}

func (d *fakeDaemon) follow(p *pipe, size domain.Size) {
	if d.obedient {
		d.term.Resize(size.Cols, size.Rows)
		if d.keeping != nil {
			d.keeping.Resize(size.Cols, size.Rows)
		}
		d.draw(p)
	}
}

// resize gives the session a size that no client asked for.
func (d *fakeDaemon) resize(cols, rows int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.term.Resize(cols, rows)
	d.draw(d.conn)
}

// size is the session's.
func (d *fakeDaemon) size() (cols, rows int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.term.Size()
}

// focus is all that the client said of its terminal's.
func (d *fakeDaemon) focus() (said []bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range d.got {
		if f, ok := m.(*protocol.Focus); ok {
			said = append(said, f.In)
		}
	}
	return said
}

// happens is an event, sent with a state.
func (d *fakeDaemon) happens(body protocol.EventBody) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.eventSeq++
	d.events = append(d.events, protocol.Event{Seq: d.eventSeq, Pane: 3, Body: body})
	d.draw(d.conn)
}

// says sends m as it is.
func (d *fakeDaemon) says(m protocol.SessionServerMessage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.post(d.conn, m)
}

// cut kills the conversation. What the client sent is still taken, or lost.
func (d *fakeDaemon) cut(taken bool) {
	d.mu.Lock()
	p := d.conn
	d.mu.Unlock()
	if taken && !p.closed() {
		d.set(func() { d.deaf = false })
		close(p.last)
		<-p.served
	}
	p.lost.Store(!taken)
	p.Close()
}

// acknowledged is what the client has acknowledged when no acknowledgement waits.
func (a *attachment) acknowledged() protocol.Ack {
	time.Sleep(holdAck)
	synctest.Wait()
	ack := a.daemon.acked
	ack.Held = 0
	return ack
}

func (d *fakeDaemon) set(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
	d.changed.Broadcast()
}

// dialed is how many dials there were.
func (d *fakeDaemon) dialed() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dials
}

func (d *fakeDaemon) typed() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return string(d.input)
}

// await waits until the daemon has n bytes of input.
func (d *fakeDaemon) await(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.input) < n && d.problem == "" {
		d.changed.Wait()
	}
}

// attachment is a client in a bubble, with its terminal and daemon.
type attachment struct {
	t      *testing.T
	term   *fakeTerminal
	daemon *fakeDaemon
	opts   Options
	client *client
	cancel context.CancelFunc
	done   chan struct{}
	result Result
	err    error
}

// attached runs f beside a client that is attached, in a bubble, and joins everything. setup may change what is there
// before the client starts.
func attached(t *testing.T, setup, f func(a *attachment)) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		a := &attachment{t: t, term: newFakeTerminal(20, 5), daemon: newFakeDaemon(20, 5), done: make(chan struct{})}
		a.opts = Options{Terminal: a.term, Dialer: a.daemon, Attach: protocol.Attach{Session: "w"}, Leader: DefaultLeader}
		if setup != nil {
			setup(a)
		}
		var ctx context.Context
		ctx, a.cancel = context.WithCancel(t.Context())
		a.client = newClient(a.opts)
		go func() {
			defer close(a.done)
			a.result, a.err = a.client.run(ctx)
		}()
		synctest.Wait()
		defer a.check()
		f(a)
	})
}

// check ends the client and joins everything.
func (a *attachment) check() {
	a.cancel()
	<-a.done
	a.daemon.mu.Lock()
	conn := a.daemon.conn
	a.daemon.mu.Unlock()
	if conn != nil {
		conn.Close()
	}
	a.daemon.wg.Wait()
	if a.daemon.problem != "" {
		a.t.Error(a.daemon.problem)
	}
	if !a.term.closed || !a.term.left() {
		a.t.Error("the terminal was not given back")
	}
}

// types and waits until all that follows is done.
func (a *attachment) types(s string) {
	go a.term.enter(s)
	synctest.Wait()
}

// ends waits for the end for at most d.
func (a *attachment) ends(d time.Duration) (Result, error) {
	a.t.Helper()
	synctest.Wait()
	select {
	case <-a.done:
	case <-time.After(d + 1):
		a.t.Errorf("the client has not ended after %s", d)
		a.cancel()
		<-a.done
	}
	return a.result, a.err
}

func failure(kind fault.Kind, text string) *protocol.Failure {
	return &protocol.Failure{Kind: kind, Text: text}
}
