package porttest

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
)

// patience bounds every wait of the suites. It is met only by a failure.
const patience = 10 * time.Second

// ProgramScenes are the programs the suite needs, in the terms of the implementation.
type ProgramScenes struct {
	Exit7    domain.Command // prints "bye" and exits with status 7
	Cat      domain.Command // prints "ready", then copies input to output unchanged, raw, for ever
	Deaf     domain.Command // prints "ready", then never reads its input
	Stubborn domain.Command // prints "ready", ignores the hang-up, runs for ever
	Sizes    domain.Command // prints "size COLSxROWS;" at its start and at each change
	Missing  domain.Command // names a program that does not exist
}

// Programs is the suite for ports.Programs and ports.Program.
func Programs(t *testing.T, programs func(t *testing.T) ports.Programs, scenes ProgramScenes) {
	start := func(t *testing.T, cmd domain.Command) (ports.Program, *Output) {
		t.Helper()
		p, err := programs(t).Start(cmd, domain.DefaultSize)
		require.NoError(t, err)
		return p, Collect(t, p)
	}

	t.Run("output ends after the program's last word", func(t *testing.T) {
		p, out := start(t, scenes.Exit7)
		require.ErrorIs(t, out.End(), io.EOF)
		require.Equal(t, "bye", strings.TrimSpace(out.String()))
		require.Equal(t, domain.ExitStatus{Code: 7}, p.Wait())
	})
	t.Run("everyone who waits gets the same status", func(t *testing.T) {
		p, _ := start(t, scenes.Exit7)
		var wg sync.WaitGroup
		got := make([]domain.ExitStatus, 8)
		for i := range got {
			wg.Go(func() { got[i] = p.Wait() })
		}
		wg.Wait()
		for _, st := range got {
			require.Equal(t, domain.ExitStatus{Code: 7}, st)
		}
		require.Equal(t, domain.ExitStatus{Code: 7}, p.Wait(), "also later")
	})
	t.Run("input arrives whole and in order", func(t *testing.T) {
		p, out := start(t, scenes.Cat)
		out.Until("ready")
		text := strings.Repeat("0123456789abcdef", 20_000) // far more than any buffer on the way
		n, err := io.WriteString(p, text)
		require.NoError(t, err)
		require.Equal(t, len(text), n)
		out.Until(text)
	})
	t.Run("the size is known at the start and told at each change", func(t *testing.T) {
		p, out := start(t, scenes.Sizes)
		out.Until("size 80x24;")
		require.NoError(t, p.Resize(domain.Size{Cols: 132, Rows: 43}))
		out.Until("size 132x43;")
	})
	t.Run("an impossible size is refused", func(t *testing.T) {
		p, out := start(t, scenes.Cat)
		out.Until("ready")
		for _, s := range []domain.Size{{}, {Cols: 80}, {Cols: domain.MaxCols + 1, Rows: 1}, {Cols: 1, Rows: domain.MaxRows + 1}} {
			require.Equal(t, fault.Usage, fault.KindOf(p.Resize(s)), "%v", s)
			_, err := programs(t).Start(scenes.Cat, s)
			require.Equal(t, fault.Usage, fault.KindOf(err), "%v", s)
		}
		require.NoError(t, p.Resize(domain.Size{Cols: domain.MaxCols, Rows: domain.MaxRows}))
	})
	t.Run("close ends a waiting read", func(t *testing.T) {
		p, out := start(t, scenes.Cat)
		out.Until("ready")
		require.NoError(t, p.Close())
		require.Error(t, out.End())
		require.NoError(t, p.Close(), "again")
	})
	t.Run("close ends a waiting write", func(t *testing.T) {
		p, out := start(t, scenes.Deaf)
		out.Until("ready")
		ended := make(chan error, 1)
		go func() {
			_, err := p.Write(make([]byte, 1<<20))
			ended <- err
		}()
		require.NoError(t, p.Close())
		require.Error(t, within(t, ended))
	})
	t.Run("close hangs up", func(t *testing.T) {
		p, out := start(t, scenes.Cat)
		out.Until("ready")
		require.NoError(t, p.Close())
		require.Equal(t, domain.ExitStatus{Signal: syscall.SIGHUP}, waitStatus(t, p))
	})
	t.Run("kill asks first", func(t *testing.T) {
		p, out := start(t, scenes.Cat)
		out.Until("ready")
		p.Kill(t.Context())
		require.Equal(t, domain.ExitStatus{Signal: syscall.SIGHUP}, p.Wait())
		p.Kill(t.Context()) // nothing is left to do
	})
	t.Run("kill does not ask twice", func(t *testing.T) {
		p, out := start(t, scenes.Stubborn)
		out.Until("ready")
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		p.Kill(ctx)
		require.Equal(t, domain.ExitStatus{Signal: syscall.SIGKILL}, p.Wait())
	})
	t.Run("a missing program is named", func(t *testing.T) {
		_, err := programs(t).Start(scenes.Missing, domain.DefaultSize)
		require.Equal(t, fault.NotFound, fault.KindOf(err))
		require.ErrorContains(t, err, scenes.Missing.Argv[0])
	})
	t.Run("the foreground is told", func(t *testing.T) {
		p, out := start(t, scenes.Cat)
		out.Until("ready")
		require.Positive(t, p.Pid())
		require.Equal(t, p.Pid(), p.Foreground().Pid)
	})
}

func waitStatus(t *testing.T, p ports.Program) domain.ExitStatus {
	t.Helper()
	got := make(chan domain.ExitStatus, 1)
	go func() { got <- p.Wait() }()
	return within(t, got)
}

func within[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		require.FailNow(t, "nothing came")
		panic("unreachable")
	}
}

// Output gathers what a reader gives, from a goroutine of its own that ends with the reader.
type Output struct {
	t    *testing.T
	more chan struct{} // cap 1: something changed
	done chan struct{}

	mu  sync.Mutex
	buf bytes.Buffer
	err error
}

// Collect reads all of a program's output. The program is killed and closed at the test's end.
func Collect(t *testing.T, p ports.Program) *Output {
	out := gather(t, p)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		p.Kill(ctx)
		p.Close()
		<-out.done
	})
	return out
}

func gather(t *testing.T, r io.Reader) *Output {
	out := &Output{t: t, more: make(chan struct{}, 1), done: make(chan struct{})}
	go func() {
		defer close(out.done)
		buf := make([]byte, 64<<10)
		for {
			n, err := r.Read(buf)
			out.mu.Lock()
			out.buf.Write(buf[:n])
			out.err = err
			out.mu.Unlock()
			select {
			case out.more <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	return out
}

// Until waits for text in what was read. One goroutine at a time.
func (o *Output) Until(text string) {
	o.t.Helper()
	deadline := time.After(patience)
	for !strings.Contains(o.String(), text) {
		select {
		case <-o.more:
		case <-o.done:
			require.Contains(o.t, o.String(), text, "the output ended")
			return
		case <-deadline:
			s := o.String()
			require.FailNow(o.t, "text did not come", "%d bytes wanted, %d came, last %q", len(text), len(s), s[max(0, len(s)-200):])
		}
	}
}

// End waits for the last read and returns its error.
func (o *Output) End() error {
	o.t.Helper()
	select {
	case <-o.done:
	case <-time.After(patience):
		require.FailNow(o.t, "the output does not end")
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}
