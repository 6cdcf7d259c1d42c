//go:build linux

package netsim

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/adapters/pty"
	"github.com/vev-term/vev/internal/adapters/sessionwire"
	"github.com/vev-term/vev/internal/app/client"
	"github.com/vev-term/vev/internal/app/daemon"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/predict"
	"github.com/vev-term/vev/internal/domain/render"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/ptytest"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

// typist is somebody at a terminal whose session, with a real program in a real pseudo-terminal, is at the far end of a
// simulated link. Client and daemon are in this process; the time is real, as the program's is.
type typist struct {
	t      *testing.T
	link   *simnet.Link
	daemon *daemon.Daemon
	wg     sync.WaitGroup

	keys   chan []byte
	events chan ports.TerminalEvent
	gone   chan struct{}
	once   sync.Once

	mu      sync.Mutex
	screen  *vt.Terminal
	out     []byte // all that was written to the terminal
	wrote   chan struct{}
	latency []time.Duration
}

var typistSize = domain.Size{Cols: 80, Rows: 24}

// newTypist starts command at the far end of a link with that round trip, and attaches.
func newTypist(t *testing.T, rtt time.Duration, mode predict.Mode, command ...string) *typist {
	t.Helper()
	c := simnet.Conditions{Delay: rtt / 2}
	y := terminalOnly(t)
	y.link, y.daemon = simnet.NewLink(1, c, c), daemon.New(daemon.Options{Programs: &pty.Programs{}})
	ctx, cancel := context.WithCancel(context.Background())
	home := t.TempDir()
	create := &protocol.Create{Name: "far", Command: domain.Command{
		Argv: command, Dir: home, Env: ptytest.Env("HOME="+home, "LANG=C.UTF-8", "PS1=$ ", "VEV_TEST=1"),
	}}
	y.wg.Go(func() {
		_, _ = client.Run(ctx, client.Options{
			Terminal: y, Dialer: y, Attach: protocol.Attach{Create: create}, Capabilities: render.Capabilities{}, Predict: mode,
		})
	})
	t.Cleanup(func() {
		cancel()
		y.Close()
		y.daemon.Close(context.Background())
		y.wg.Wait()
	})
	return y
}

// terminalOnly is a typist without a session.
func terminalOnly(t *testing.T) *typist {
	return &typist{
		t: t, keys: make(chan []byte), events: make(chan ports.TerminalEvent), gone: make(chan struct{}),
		screen: vt.New(vt.Options{Cols: typistSize.Cols, Rows: typistSize.Rows}), wrote: make(chan struct{}, 1),
	}
}

// Dial implements ports.SessionDialer.
func (y *typist) Dial(ctx context.Context) (ports.SessionClientConn, error) {
	near, far := y.link.Connect()
	y.wg.Go(func() {
		talk, err := sessionwire.Server(far, "far")
		if err == nil {
			_ = y.daemon.Serve(context.Background(), talk)
		}
		_ = far.Close()
	})
	return sessionwire.Client(ctx, near, "near", protocol.FeaturePacked)
}

func (y *typist) Raw() error                         { return nil }
func (y *typist) Restore() error                     { return nil }
func (y *typist) Suspend() error                     { return nil }
func (y *typist) Size() (domain.Size, error)         { return typistSize, nil }
func (y *typist) Events() <-chan ports.TerminalEvent { return y.events }

func (y *typist) Read(p []byte) (int, error) {
	select {
	case k := <-y.keys:
		return copy(p, k), nil
	case <-y.gone:
		return 0, io.EOF
	}
}

func (y *typist) Write(p []byte) (int, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	_, _ = y.screen.Write(p)
	y.out = append(y.out, p...)
	select {
	case y.wrote <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (y *typist) Close() error {
	y.once.Do(func() { close(y.gone) })
	return nil
}

// line is the text of the row with the cursor, before|behind the cursor.
func (y *typist) line() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	c := y.screen.Cursor()
	var b []byte
	for x, cell := range y.screen.Row(c.Row).Cells() {
		if x == c.Col {
			b = append(b, '|')
		}
		n := len(b)
		if b = y.screen.AppendCell(b, cell); len(b) == n && !cell.IsSpacer() {
			b = append(b, ' ')
		}
	}
	return strings.TrimRight(string(b), " ")
}

// text is all of the screen.
func (y *typist) text() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	var b []byte
	for row := range typistSize.Rows {
		for _, cell := range y.screen.Row(row).Cells() {
			n := len(b)
			if b = y.screen.AppendCell(b, cell); len(b) == n && !cell.IsSpacer() {
				b = append(b, ' ')
			}
		}
		b = append(b, '\n')
	}
	return string(b)
}

// reaches waits until ok is true after some write, for at most d.
func (y *typist) reaches(d time.Duration, ok func() bool) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		if ok() {
			return true
		}
		select {
		case <-y.wrote:
		case <-timer.C:
			return ok()
		}
	}
}

func (y *typist) sees(want string) {
	y.t.Helper()
	if !y.reaches(10*time.Second, func() bool { return strings.Contains(y.text(), want) }) {
		y.t.Fatalf("%q is not on the screen:\n%s", want, y.text())
	}
}

// at waits until the row with the cursor is want.
func (y *typist) at(want string) {
	y.t.Helper()
	if !y.reaches(10*time.Second, func() bool { return y.line() == want }) {
		y.t.Fatalf("the line is %q, not %q", y.line(), want)
	}
}

// press types one key and does not look.
func (y *typist) press(key string) {
	select {
	case y.keys <- []byte(key):
	case <-y.gone:
	}
}

// writtenSince are the bytes that the terminal got since mark, which is what it returned before.
func (y *typist) writtenSince(mark int) (out []byte, now int) {
	y.mu.Lock()
	defer y.mu.Unlock()
	return bytes.Clone(y.out[mark:]), len(y.out)
}

// editing is what a line is after each key, by the rules that bash and vim share.
type editing struct {
	prompt     string
	line       []rune
	at         int
	keys, soon int // typed; shown at once
}

// apply does one key: a character, "\x7f", left or right.
func (e *editing) apply(key string) {
	switch {
	case key == "\x7f" && e.at > 0:
		e.line = append(e.line[:e.at-1:e.at-1], e.line[e.at:]...)
		e.at--
	case key == "\x1b[D" && e.at > 0:
		e.at--
	case key == "\x1b[C" && e.at < len(e.line):
		e.at++
	case key[0] >= 0x20 && key != "\x7f":
		e.line = append(e.line[:e.at:e.at], append([]rune(key), e.line[e.at:]...)...)
		e.at++
	}
}

func (e *editing) shown() string {
	return strings.TrimRight(e.prompt+string(e.line[:e.at])+"|"+string(e.line[e.at:]), " ")
}

const (
	// atOnce is a third of what an answer takes: what shows within it was guessed, on a busy machine too.
	atOnce  = slowTrip / 3
	keyPace = 120 * time.Millisecond
)

// types types keys at a person's pace and counts which are shown at once.
func (y *typist) types(e *editing, keys ...string) {
	y.t.Helper()
	for _, key := range keys {
		began := time.Now()
		e.apply(key)
		y.press(key)
		e.keys++
		if y.reaches(atOnce, func() bool { return y.line() == e.shown() }) {
			e.soon++
			y.latency = append(y.latency, time.Since(began))
		}
		time.Sleep(time.Until(began.Add(keyPace)))
	}
}

// settles waits until everything typed has been answered, and then wants the truth to be what was
// guessed.
func (y *typist) settles(e *editing) {
	y.t.Helper()
	time.Sleep(answered)
	y.at(e.shown())
}

func chars(s string) []string { return strings.Split(s, "") }

func repeat(key string, n int) []string { return strings.Split(strings.Repeat(key+" ", n-1)+key, " ") }

// enough requires that so many keys in a hundred were shown at once, and says how many were.
func (e *editing) enough(t *testing.T, what string, percent int) {
	t.Helper()
	t.Logf("%s: %d of %d keys shown at once, %d %%", what, e.soon, e.keys, 100*e.soon/e.keys)
	require.GreaterOrEqual(t, 100*e.soon, percent*e.keys, what)
}

// needs skips the test where a program is missing.
func needs(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("VEV_TEST_STRICT") == "1" {
			t.Fatal(path + " is missing, and VEV_TEST_STRICT=1 wants every test")
		}
		t.Skip(path + " is missing")
	}
}
