//go:build linux

package programs

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/testkit/ptytest"
)

var size = domain.Size{Cols: 80, Rows: 24}

// step is a place in a program's output at which something was seen.
type step struct {
	what string
	end  int         // of the output so far
	size domain.Size // of the screen from the step before on
}

// recording is all that a program wrote.
type recording struct {
	name  string
	bytes []byte
	steps []step
	// final is the screen at the end as it came about, in the portions of the pty.
	final ptytest.Screen
	// foreign says that other terminals are expected to show the same text.
	foreign bool
	// margins: it used left and right margins, which tmux does not have.
	margins bool
	// disputed: terminals differ about what is before the first | of a line. Behind it a painter has to put all right.
	disputed bool
}

// live is a program that is being recorded.
type live struct {
	*ptytest.Term
	t    *testing.T
	rec  *recording
	size domain.Size
}

// run starts a program; env is added to a small environment.
func run(t *testing.T, argv []string, env ...string) *live {
	t.Helper()
	return &live{
		Term: ptytest.Start(t, argv, ptytest.Env(append([]string{"HOME=" + t.TempDir()}, env...)...), size), t: t,
		rec: &recording{name: t.Name(), foreign: true}, size: size,
	}
}

// sh runs a shell script.
func sh(t *testing.T, script string, env ...string) *live {
	t.Helper()
	return run(t, []string{"/bin/sh", "-c", script}, env...)
}

// see waits until ok holds of the screen, which ends a step.
func (l *live) see(what string, ok func(ptytest.Screen) bool) ptytest.Screen {
	l.t.Helper()
	s := l.WaitFor(what, ok)
	l.rec.steps = append(l.rec.steps, step{what: what, end: len(l.Output()), size: l.size})
	return s
}

// text waits until text is on a line of the screen.
func (l *live) text(text string) ptytest.Screen {
	l.t.Helper()
	return l.see(text, func(s ptytest.Screen) bool { return s.Contains(text) })
}

// press types keys and waits for text.
func (l *live) press(keys, text string) ptytest.Screen {
	l.t.Helper()
	l.Type(keys)
	return l.text(text)
}

// resize changes the size of the terminal of a program that is at rest.
func (l *live) resize(s domain.Size) {
	l.Resize(s)
	l.size = s
	l.rec.foreign = false
}

// ends waits for the program's end, and returns the recording.
func (l *live) ends(code int) *recording {
	l.t.Helper()
	if s := l.Wait(); s.Code != code || s.Signal != 0 {
		l.t.Fatalf("ended with %v, want %d", s, code)
	}
	l.rec.bytes, l.rec.final = l.Output(), l.Screen()
	l.rec.steps = append(l.rec.steps, step{what: "its end", end: len(l.rec.bytes), size: l.size})
	return l.rec
}

// need finds a program that a test cannot do without.
func need(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("VEV_TEST_STRICT") == "1" {
		t.Fatalf("%s is not installed, and VEV_TEST_STRICT=1 wants every test", name)
	}
	t.Skipf("%s is not installed", name)
	return ""
}

// file makes a file and returns its path.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
