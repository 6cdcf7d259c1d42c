//go:build linux

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/vt"
)

// shell attaches a session with the user's login shell and returns when it prompts with "$ ", whatever its profile says.
func shell(t *testing.T, h *home, tt *term) *program {
	t.Helper()
	p := tt.vev(h, "new", "sh")
	tt.typ("PS1='$ '; clear; echo rea''dy\r")
	tt.sees("ready\n$")
	return p
}

// manyLines makes a file of numbered lines, about size bytes, and returns its last ones.
func manyLines(t *testing.T, h *home, size, last int) (path string, tail []string) {
	t.Helper()
	data := make([]byte, 0, size+100)
	for i := 0; len(data) < size; i++ {
		data = fmt.Appendf(data, "%08d the quick brown fox jumps over the lazy dog again\n", i)
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	return h.write("many.txt", data), lines[len(lines)-last:]
}

// TestMust3CatOf50MB: the last screen is right, history is whole, and all of vev stays small.
func TestMust3CatOf50MB(t *testing.T) {
	h := newHome(t)
	file, tail := manyLines(t, h, 50_000_000, 1000)
	tt := newTerm(t, 80, 24)
	client := shell(t, h, tt)
	tt.typ("cat " + file + "; echo e''nd\r")
	tt.sees(strings.Join(tail[len(tail)-22:], "\n") + "\nend\n$")
	history := h.ok("capture", "sh", "--history", "1000")
	require.Contains(t, history, strings.Join(tail[100:], "\n")+"\nend\n")

	sum := 0
	for _, pid := range []int{client.pid(), h.one("_broker"), h.one("_daemon")} {
		sum += peakMemory(t, pid)
	}
	t.Logf("peak memory of client, broker and daemon: %d MB", sum/1_000_000)
	require.Less(t, sum, 100_000_000, "bytes, what they share counted three times")
	tt.typ("exit\r")
	require.Zero(t, client.exits())
}

// TestMust3CtrlCDuringYes: the prompt is back within 100 ms.
func TestMust3CtrlCDuringYes(t *testing.T) {
	h := newHome(t)
	tt := newTerm(t, 80, 24)
	shell(t, h, tt)
	var took []time.Duration
	for i := range 5 {
		tt.typ(fmt.Sprintf("yes flood%d\r", i))
		tt.until("a flood", func(s *vt.Terminal) bool {
			return rowText(s, 0) == fmt.Sprintf("flood%d", i) && rowText(s, 20) == rowText(s, 0)
		})
		start := time.Now()
		tt.typ("\x03")
		tt.until("the prompt", func(s *vt.Terminal) bool { return rowText(s, s.Cursor().Row) == "$" })
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	t.Logf("Ctrl-C to prompt: %v", took)
	require.Less(t, took[2], 100*time.Millisecond+busy, "the median")
}

// TestMust4StalledTerminals: 24 clients whose terminals take nothing, each with 512 KiB to show, hold nobody up, and
// when their terminals flow again each shows the newest.
func TestMust4StalledTerminals(t *testing.T) {
	h := newHome(t)
	h.ok("new", "echo", "-d", "--", "cat")
	free := newTerm(t, 80, 24)
	free.vev(h, "attach", "echo")
	eventually(t, "attached", func() bool { return h.session("echo").Attached == 1 })
	idle := echoLatency(free)

	file, tail := manyLines(t, h, 512<<10, 20)
	var stalled []*term
	for i := range 24 {
		name := fmt.Sprintf("s%d", i)
		h.sh(name, "echo ready; read x; cat "+file+"; echo all out; exec cat")
		tt := newTerm(t, 80, 24)
		tt.vev(h, "attach", name)
		tt.sees("ready")
		tt.stop()
		stalled = append(stalled, tt)
	}
	for i := range stalled {
		h.ok("key", fmt.Sprintf("s%d", i), "Enter")
	}
	beside := echoLatency(free)
	for i := range stalled {
		h.waitText(fmt.Sprintf("s%d", i), "^all out$")
	}
	t.Logf("echo: idle %v, beside %v", idle, beside)
	require.Less(t, beside, 2*idle+busy)
	for _, tt := range stalled {
		tt.resume()
		tt.sees(strings.Join(tail, "\n") + "\nall out")
	}
	broker, _ := h.stats()
	require.Equal(t, 25, broker.Streams, "no stream was settled")
}

// echoLatency is the median time from a key to its echo, in a session that echoes at the begin of an empty line.
func echoLatency(tt *term) time.Duration {
	tt.t.Helper()
	var took []time.Duration
	for i := range 60 {
		start := time.Now()
		tt.typ("k")
		tt.until("the echo of a key", func(s *vt.Terminal) bool { return s.Cursor().Col == i+1 })
		took = append(took, time.Since(start))
	}
	tt.typ("\x15") // the line is given up
	tt.until("an empty line", func(s *vt.Terminal) bool { return s.Cursor().Col == 0 })
	slices.Sort(took)
	return took[len(took)/2]
}

// TestBC48FloodBesideTyping: while one session prints at full speed, keys in another are fast.
func TestBC48FloodBesideTyping(t *testing.T) {
	h := newHome(t)
	h.ok("new", "type", "-d", "--", "cat")
	h.ok("new", "flood", "-d", "--", "yes")
	flood := newTerm(t, 80, 24)
	flood.vev(h, "attach", "flood")
	flood.sees("y\ny\ny")
	tt := newTerm(t, 80, 24)
	tt.vev(h, "attach", "type")
	eventually(t, "attached", func() bool { return h.session("type").Attached == 1 })
	took := echoLatency(tt)
	t.Logf("echo beside a flood: %v", took)
	require.Less(t, took, 50*time.Millisecond+busy)
}

// TestBC62cAttachCostAfterMuchOutput: attaching costs what screen and history hold, not what was ever printed.
func TestBC62cAttachCostAfterMuchOutput(t *testing.T) {
	h := newHome(t)
	attachBytes := func(name string) int64 {
		tt := newTerm(t, 80, 24)
		p := tt.vev(h, "attach", name)
		tt.sees("settled")
		total := tt.got()
		tt.typ("\x1cd")
		p.exits()
		return total
	}
	h.sh("little", `printf '\033[H\033[2J%s' x; echo settled; exec cat`)
	h.waitText("little", "settled")
	little := attachBytes("little")
	daemon := h.one("_daemon")
	before := peakMemory(t, daemon)
	// 100 MB without a line feed.
	h.sh("much", `yes "$(printf '\033[H\033[2J%04000d' 7)" | head -c 100000000 | tr -d '\n'; printf '\033[H\033[2J'; echo settled; exec cat`)
	h.waitText("much", "^settled")
	much := attachBytes("much")
	t.Logf("attach: %d bytes before, %d after; daemon: %d MB before, %d MB after", little, much, before>>20, peakMemory(t, daemon)>>20)
	require.Less(t, much, 2*little+4096)
	require.Less(t, peakMemory(t, daemon)-before, 60<<20)
}
