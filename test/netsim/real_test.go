//go:build linux

package netsim

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/testkit/ptytest"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

// Commands and attachments work across a link as they do without one; nothing of vev but the broker is near.
func TestAcrossALink(t *testing.T) {
	p := newPlace(t, simnet.Conditions{Delay: 10 * time.Millisecond})
	p.ok("new", "work", "-d", "--", "sh", "-c", "echo hello from afar; exec cat")
	require.Contains(t, p.ok("ls"), "work")
	a := p.attach("attach", "work")
	a.WaitText("hello from afar")
	a.Type("typed here\r")
	a.WaitFor("the line and its echo", func(s ptytest.Screen) bool { return strings.Count(s.String(), "typed here") == 2 })
	require.Contains(t, p.ok("capture", "work"), "typed here")
	_, err := os.Stat(filepath.Join(p.dir, "near/state"))
	require.NoError(t, err)
	require.Len(t, p.role("_daemon"), 1)
	require.Empty(t, p.role("_broker"))
	require.Len(t, p.role("_broker-mux-stdio"), 1, "one link carries everything")
	a.Type("\x1cd")
	require.Zero(t, a.Wait().Code)
}

// The link's connection is cut under an attachment, again and again, while somebody types: the input arrives once, in
// order, and the screen is the session's.
func TestTheConnectionIsCut(t *testing.T) {
	p := newPlace(t, simnet.Conditions{Delay: 5 * time.Millisecond})
	a := p.attach("new", "work", "--", "sh", "-c", "stty -echo; echo ready; exec cat -n")
	a.WaitText("ready")
	const lines = 60
	for i := range lines {
		a.Type(fmt.Sprintf("line %03d\r", i))
		if i%10 == 5 {
			for _, pid := range p.role("_broker-mux-stdio") {
				require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
			}
		}
	}
	a.WaitText(fmt.Sprintf("line %03d", lines-1))
	history := p.ok("capture", "work", "--history", "100")
	var got []string
	for line := range strings.Lines(history) {
		if _, text, ok := strings.Cut(line, "line "); ok {
			got = append(got, strings.TrimSpace(text))
		}
	}
	require.Len(t, got, lines)
	for i, text := range got {
		require.Equal(t, fmt.Sprintf("%03d", i), text)
	}
}

// What was typed in a blackhole arrives after it.
func TestABlackhole(t *testing.T) {
	c := simnet.Conditions{Delay: 10 * time.Millisecond}
	p := newPlace(t, c)
	a := p.attach("new", "work", "--", "sh", "-c", "stty -echo; echo ready; exec cat -n")
	a.WaitText("ready")
	typed := make(chan struct{})
	go func() {
		defer close(typed)
		time.Sleep(time.Second)
		a.Type("in the dark\r")
	}()
	p.hole(c, 3*time.Second)
	<-typed
	a.WaitText("in the dark")
	require.Equal(t, 1, strings.Count(p.ok("capture", "work"), "in the dark"))
}
