//go:build linux

package netsim

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/adapters/sessionwire"
	"github.com/vev-term/vev/internal/app/client"
	"github.com/vev-term/vev/internal/app/daemon"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/predict"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

// teletype is a program that prints what it reads, slowly, and a bell for each '!'.
type teletype struct {
	mu     sync.Mutex
	turn   sync.Cond
	input  []byte
	output []byte
	ended  bool
}

func newTeletype() *teletype {
	p := &teletype{}
	p.turn.L = &p.mu
	return p
}

// Start implements ports.Programs.
func (p *teletype) Start(domain.Command, domain.Size) (ports.Program, error) { return p, nil }

func (p *teletype) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.output) == 0 && !p.ended {
		p.turn.Wait()
	}
	if len(p.output) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.output)
	p.output = p.output[n:]
	return n, nil
}

// Write takes its time, so that the daemon has input which it has not given to the program.
func (p *teletype) Write(b []byte) (int, error) {
	for i := range b {
		time.Sleep(15 * time.Millisecond)
		p.take(b[i : i+1])
	}
	return len(b), nil
}

func (p *teletype) TryWrite(b []byte) int {
	p.mu.Lock()
	takes := len(p.input)%4 == 0
	p.mu.Unlock()
	if !takes {
		return 0
	}
	p.take(b[:1])
	return 1
}

func (p *teletype) take(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.input = append(p.input, b...)
	out := bytes.ReplaceAll(b, []byte("!"), []byte("!\a"))
	p.output = append(p.output, bytes.ReplaceAll(out, []byte("\r"), []byte("\r\n"))...)
	p.turn.Broadcast()
}

func (p *teletype) read() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(p.input)
}

func (p *teletype) Resize(domain.Size) error  { return nil }
func (p *teletype) Pid() int                  { return 1 }
func (p *teletype) Command() []string         { return []string{"teletype"} }
func (p *teletype) Foreground() ports.Process { return ports.Process{} }
func (p *teletype) Use() ports.TerminalUse    { return ports.TerminalUse{} }
func (p *teletype) ForegroundGroup() int      { return 0 }
func (p *teletype) Cwd() string               { return "" }
func (p *teletype) Kill(context.Context)      { p.Close() }

func (p *teletype) Wait() domain.ExitStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.ended {
		p.turn.Wait()
	}
	return domain.ExitStatus{}
}

func (p *teletype) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.turn.Broadcast()
	return nil
}

// cutting dials a daemon; the first conversations are cut once an end has written so many bytes.
type cutting struct {
	daemon *daemon.Daemon
	wg     *sync.WaitGroup
	cut    cut
	dials  int
	up     *counted // of the last conversation
	down   *counted
}

// cut says after how many bytes of one direction a conversation ends; times: how many do.
type cut struct {
	up       bool
	after    int
	times    int
	features uint64 // of the conversations
}

// counted counts what is written.
type counted struct {
	*simnet.End
	n int
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.End.Write(p)
	c.n += n
	return n, err
}

func (d *cutting) Dial(ctx context.Context) (ports.SessionClientConn, error) {
	near, far := simnet.Pipe(4 << 10)
	if d.dials++; d.dials <= d.cut.times {
		end := far
		if d.cut.up {
			end = near
		}
		end.CutAfter(d.cut.after)
	}
	d.up, d.down = &counted{End: near}, &counted{End: far}
	carriage := d.down
	d.wg.Go(func() {
		talk, err := sessionwire.Server(carriage, "far")
		if err == nil {
			_ = d.daemon.Serve(context.Background(), talk)
		}
		_ = carriage.Close()
	})
	conn, err := sessionwire.Client(ctx, d.up, "near", d.cut.features)
	if err != nil {
		return nil, err // not the nil of another type
	}
	return conn, nil
}

// talk is what one conversation is about, with a cut in it.
type talk struct {
	input    string
	screen   string
	bells    int
	result   client.Result
	err      error
	up, down int // bytes
}

const (
	firstWords = "abc!"
	lastWords  = "defg\r!hi"
)

func converse(t *testing.T, c cut) (k talk) {
	bubble.Test(t, func(t *testing.T) {
		var wg sync.WaitGroup
		program := newTeletype()
		y := terminalOnly(t)
		d := daemon.New(daemon.Options{Programs: program})
		dialer := &cutting{daemon: d, wg: &wg, cut: c}
		done := make(chan struct{})
		go func() {
			defer close(done)
			k.result, k.err = client.Run(t.Context(), client.Options{
				Terminal: y, Dialer: dialer, Predict: predict.Always,
				Attach: protocol.Attach{Create: &protocol.Create{Name: "far"}},
			})
		}()
		for _, words := range []string{firstWords, lastWords} {
			for _, key := range chars(words) {
				y.press(key)
				time.Sleep(7 * time.Millisecond)
			}
			time.Sleep(5 * time.Second)
		}
		k.screen, k.bells = y.text(), strings.Count(string(y.out), "\a")
		y.press("\x1c")
		y.press("d")
		<-done
		synctest.Wait() // what counts is at rest
		k.input, k.up, k.down = program.read(), dialer.up.n, dialer.down.n
		d.Close(context.Background())
		wg.Wait()
	})
	return k
}

// However a conversation is cut, at any byte of either direction, once or a few times in a row: every key reaches the
// program once and in order, the user sees the program's screen, and hears each bell once.
func TestCutAtEveryByte(t *testing.T) {
	whole := converse(t, cut{})
	require.NoError(t, whole.err)
	require.Equal(t, firstWords+lastWords, whole.input)
	require.Equal(t, 2, whole.bells)
	require.Contains(t, whole.screen, "abc!defg")
	for _, up := range []bool{true, false} {
		bytes := whole.down
		if up {
			bytes = whole.up
		}
		for after := range bytes {
			for _, times := range []int{1, 3} {
				c := cut{up: up, after: after, times: times, features: protocol.FeatureNone}
				if times > 1 {
					c.features = protocol.FeaturePacked
				}
				k := converse(t, c)
				if k.err != nil {
					// It was cut before anything was attached.
					require.Equal(t, fault.Unavailable, fault.KindOf(k.err), "%+v", c)
					require.Empty(t, k.input, "%+v", c)
					continue
				}
				require.Equal(t, whole.input, k.input, "%+v", c)
				require.Equal(t, whole.screen, k.screen, "%+v", c)
				require.Equal(t, whole.bells, k.bells, "%+v", c)
				require.Equal(t, protocol.EndDetached, k.result.Reason, "%+v", c)
			}
		}
	}
	t.Logf("%d bytes up, %d down", whole.up, whole.down)
}
