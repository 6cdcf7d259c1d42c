package daemon

import (
	"context"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/render"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
)

// program is a scripted ports.Program: the test prints, reads what was typed, and ends it.
type program struct {
	mu     sync.Mutex
	cond   *sync.Cond
	output []byte
	input  []byte
	deaf   bool // does not read its input
	takes  int  // what TryWrite takes at the most
	size   domain.Size
	sizes  []domain.Size // that it was told
	exited bool
	closed bool
	hangs  bool // survives a hang-up
	keeps  bool // something holds the terminal after its end
	exit   domain.ExitStatus
	cmd    domain.Command
	use    ports.TerminalUse
	looks  int // at use
}

func newProgram(cmd domain.Command, size domain.Size) *program {
	p := &program{size: size, cmd: cmd, takes: 100}
	p.cond = sync.NewCond(&p.mu)
	return p
}

func (p *program) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.output) == 0 && !p.closed && (!p.exited || p.keeps) {
		p.cond.Wait()
	}
	if len(p.output) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.output)
	p.output = p.output[n:]
	p.cond.Broadcast()
	return n, nil
}

func (p *program) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.deaf && !p.closed && !p.exited {
		p.cond.Wait()
	}
	if p.closed || p.exited {
		return 0, io.ErrClosedPipe
	}
	p.input = append(p.input, b...)
	p.cond.Broadcast()
	return len(b), nil
}

func (p *program) TryWrite(b []byte) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.deaf || p.closed || p.exited {
		return 0
	}
	n := min(len(b), p.takes)
	p.input = append(p.input, b[:n]...)
	return n
}

func (p *program) Resize(s domain.Size) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.size = s
	p.sizes = append(p.sizes, s)
	return nil
}

func (p *program) Pid() int                  { return 4711 }
func (p *program) Foreground() ports.Process { return ports.Process{Pid: 4711, Cwd: "/home/u"} }

func (p *program) Use() ports.TerminalUse {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.looks++
	return p.use
}

func (p *program) ForegroundGroup() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.use.Pid
}

// looked is how often what holds the terminal was looked at.
func (p *program) looked() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.looks
}

// foreground lets something else hold the terminal.
func (p *program) foreground(use ports.TerminalUse) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.use = use
}

func (p *program) Command() []string { return p.cmd.Argv }

func (p *program) Cwd() string { return "/home/u" }

func (p *program) Wait() domain.ExitStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.exited {
		p.cond.Wait()
	}
	return p.exit
}

func (p *program) Kill(ctx context.Context) {
	p.mu.Lock()
	hangs := p.hangs
	p.mu.Unlock()
	if hangs {
		<-ctx.Done()
		p.end(domain.ExitStatus{Signal: syscall.SIGKILL})
		return
	}
	p.end(domain.ExitStatus{Signal: syscall.SIGHUP})
}

func (p *program) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.cond.Broadcast()
	return nil
}

func (p *program) print(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.output = append(p.output, s...)
	p.cond.Broadcast()
}

func (p *program) end(e domain.ExitStatus) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.exited {
		p.exited, p.exit = true, e
	}
	p.cond.Broadcast()
}

func (p *program) listen(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf = !on
	p.cond.Broadcast()
}

func (p *program) typed() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(p.input)
}

// programs is a scripted ports.Programs.
type programs struct {
	mu      sync.Mutex
	started []*program
	refuse  error
}

func (ps *programs) Start(cmd domain.Command, size domain.Size) (ports.Program, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if ps.refuse != nil {
		return nil, ps.refuse
	}
	p := newProgram(cmd, size)
	ps.started = append(ps.started, p)
	return p, nil
}

func (ps *programs) last() *program {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.started[len(ps.started)-1]
}

// pipe is a conversation in memory: both of its ends, with queues of a fixed length.
type pipe struct {
	toServer chan protocol.SessionClientMessage
	toClient chan protocol.SessionServerMessage
	slot     chan struct{} // held by who sends to the client
	closed   chan struct{}
	once     sync.Once
	lost     error  // what sending a state gives, once set
	gate     func() // whoever sends a state passes it before that leaves; nil: at once
}

func newPipe() *pipe {
	return &pipe{
		toServer: make(chan protocol.SessionClientMessage, 64),
		toClient: make(chan protocol.SessionServerMessage, 1),
		slot:     make(chan struct{}, 1),
		closed:   make(chan struct{}),
	}
}

func (p *pipe) Close() error { p.once.Do(func() { close(p.closed) }); return nil }

func (p *pipe) Send(m protocol.SessionServerMessage) error {
	p.pass(m)
	if p.lost != nil {
		return p.lost
	}
	select {
	case p.slot <- struct{}{}:
	case <-p.closed:
		return io.ErrClosedPipe
	}
	defer func() { <-p.slot }()
	return p.deliver(copied(m))
}

func (p *pipe) SendNow(next func() protocol.SessionServerMessage) (bool, error) {
	select {
	case p.slot <- struct{}{}:
	default:
		return false, nil
	}
	m := next()
	if m == nil || p.lost != nil {
		<-p.slot
		return true, p.lost
	}
	p.pass(m)
	m = copied(m)
	select {
	case p.toClient <- m:
		<-p.slot
	default:
		go func() {
			defer func() { <-p.slot }()
			_ = p.deliver(m)
		}()
	}
	return true, nil
}

func (p *pipe) pass(m protocol.SessionServerMessage) {
	if out, ok := m.(*protocol.Output); ok && out.New != 0 && p.gate != nil {
		p.gate()
	}
}

// copied is m without memory that its sender uses again.
func copied(m protocol.SessionServerMessage) protocol.SessionServerMessage {
	switch out := m.(type) {
	case *protocol.Preview:
		m = &protocol.Preview{Sequence: out.Sequence, Content: append([]byte(nil), out.Content...), Ended: out.Ended}
	case *protocol.Output:
		kept := *out
		kept.Panes = append([]protocol.PaneUpdate(nil), out.Panes...)
		for i := range kept.Panes {
			kept.Panes[i].Data = append([]byte(nil), kept.Panes[i].Data...)
		}
		kept.Events = append([]protocol.Event(nil), out.Events...)
		m = &kept
	}
	return m
}

func (p *pipe) deliver(m protocol.SessionServerMessage) error {
	select {
	case p.toClient <- m:
		return nil
	case <-p.closed:
		return io.ErrClosedPipe
	}
}

func (p *pipe) Receive() (protocol.SessionClientMessage, error) {
	select {
	case m := <-p.toServer:
		return m, nil
	default:
	}
	select {
	case m := <-p.toServer:
		return m, nil
	case <-p.closed:
		return nil, io.EOF
	}
}

// world is a daemon in a bubble of virtual time.
type world struct {
	t    *testing.T
	d    *Daemon
	ps   *programs
	wg   sync.WaitGroup
	next uint64
	all  []*pipe
}

// inWorld runs f in a bubble; a goroutine left behind fails the test.
func inWorld(t *testing.T, f func(w *world)) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		w := &world{t: t, ps: &programs{}}
		w.d = New(Options{Programs: w.ps, Version: "test"})
		defer func() {
			for _, p := range w.all {
				p.Close()
			}
			w.d.Close(context.Background())
			w.wg.Wait()
		}()
		f(w)
	})
}

// dial begins a conversation.
func (w *world) dial() *pipe {
	p := newPipe()
	w.all = append(w.all, p)
	w.wg.Go(func() { _ = w.d.Serve(context.Background(), p) })
	return p
}

// ask makes one request on a conversation of its own.
func (w *world) ask(timeout time.Duration, body protocol.RequestBody) *protocol.Result {
	w.t.Helper()
	p := w.dial()
	defer p.Close()
	w.next++
	p.toServer <- &protocol.Request{ID: w.next, Timeout: timeout, Body: body}
	m := <-p.toClient
	require.IsType(w.t, &protocol.Result{}, m)
	return m.(*protocol.Result)
}

func (w *world) create(name string) *program {
	w.t.Helper()
	r := w.ask(0, &protocol.New{Create: protocol.Create{Name: name, Command: domain.Command{Argv: []string{"prog"}}}})
	require.Nil(w.t, r.Failure)
	return w.ps.last()
}

func (w *world) list() []domain.SessionInfo {
	r := w.ask(0, &protocol.List{})
	return r.Body.(*protocol.Sessions).List
}

// viewer is a client that applies what it is sent, as the client service does.
type viewer struct {
	w        *world
	p        *pipe
	attached *protocol.Attached
	term     *vt.Terminal
	epoch    uint64
	state    uint64
	seq      uint64
	acked    uint64
	echo     uint64
	eventSeq uint64
	events   []protocol.EventBody
	ended    *protocol.Ended
	states   int
	bytes    int
	policy   domain.SizePolicy
	quiet    bool // does not acknowledge
}

func (w *world) attach(m protocol.Attach) *viewer {
	w.t.Helper()
	if m.Size == (domain.Size{}) {
		m.Size = domain.DefaultSize
	}
	v := &viewer{w: w, p: w.dial(), term: vt.New(vt.Options{Cols: m.Size.Cols, Rows: m.Size.Rows})}
	v.begin(m)
	return v
}

func (v *viewer) begin(m protocol.Attach) {
	v.w.t.Helper()
	v.p.toServer <- &m
	reply := <-v.p.toClient
	require.IsType(v.w.t, &protocol.Attached{}, reply, "%+v", reply)
	v.attached = reply.(*protocol.Attached)
}

// resume cuts the connection and comes back on another.
func (v *viewer) resume() {
	v.w.t.Helper()
	v.resumeAt(domain.DefaultSize)
}

func (v *viewer) resumeAt(size domain.Size) {
	v.w.t.Helper()
	v.p.Close()
	v.p = v.w.dial()
	v.begin(protocol.Attach{
		Size:   size,
		Resume: &protocol.Resume{Token: v.attached.Token, EventSeq: v.eventSeq},
	})
}

// settle applies everything until nothing comes for a second of virtual time.
func (v *viewer) settle() {
	v.w.t.Helper()
	for v.step(time.Second) {
	}
}

// step applies the next message; false: none came in time, or the end.
func (v *viewer) step(wait time.Duration) bool {
	v.w.t.Helper()
	select {
	case m := <-v.p.toClient:
		v.apply(m)
		return v.ended == nil
	case <-time.After(wait):
		return false
	case <-v.p.closed:
		select {
		case m := <-v.p.toClient: // came before
			v.apply(m)
			return v.ended == nil
		default:
			return false
		}
	}
}

func (v *viewer) apply(m protocol.SessionServerMessage) {
	t := v.w.t
	t.Helper()
	switch m := m.(type) {
	case *protocol.Output:
		require.GreaterOrEqual(t, m.InputAcked, v.acked)
		v.acked, v.echo = m.InputAcked, m.Echo
		require.LessOrEqual(t, m.Echo, m.InputAcked, "echo cannot be ahead of what was written")
		for _, e := range m.Events {
			require.Greater(t, e.Seq, v.eventSeq, "an event comes once")
			v.eventSeq = e.Seq
			v.events = append(v.events, e.Body)
		}
		if m.New != 0 {
			if m.Full {
				require.Zero(t, m.Base)
				require.Greater(t, m.Epoch, v.epoch)
				v.epoch = m.Epoch
			} else {
				require.Equal(t, v.state, m.Base, "the chain has no gap")
				require.Equal(t, v.state+1, m.New)
			}
			if m.Layout != nil {
				v.policy = m.Layout.Policy
			}
			v.state = m.New
			v.states++
			for _, p := range m.Panes {
				if cols, rows := v.term.Size(); (domain.Size{Cols: cols, Rows: rows}) != p.Size {
					v.term.Resize(p.Size.Cols, p.Size.Rows)
				}
				_, _ = v.term.Write(p.Data)
				v.bytes += len(p.Data)
			}
		}
		if !v.quiet {
			v.p.toServer <- &protocol.Ack{Epoch: v.epoch, State: v.state, EventSeq: v.eventSeq}
		}
	case *protocol.Ended:
		v.ended = m
		v.p.toServer <- &protocol.Detach{}
	default:
		require.Failf(t, "unexpected message", "%T %+v", m, m)
	}
}

func (v *viewer) typeIn(data string) {
	v.seq++
	v.p.toServer <- &protocol.Input{Seq: v.seq, Data: []byte(data)}
}

// screen is the text of a terminal, blanks at line ends cut.
func screen(t *vt.Terminal) string {
	var rows []string
	_, n := t.Size()
	for y := range n {
		row := t.Row(y)
		line := vt.Line{Cells: row.Cells()[:row.Used()]}
		rows = append(rows, string(render.AppendText(nil, t, &line)))
	}
	return strings.TrimRight(strings.Join(rows, "\n"), "\n")
}
