//go:build linux

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/vt"
)

// TestMust5ClientsKilledAtRandom: nothing of a killed client stays behind, and its session goes on.
func TestMust5ClientsKilledAtRandom(t *testing.T) {
	h := newHome(t)
	h.sh("x", "echo begin; exec cat")
	h.sh("busy", "while :; do date +%N; done")
	round := func(i int) {
		name, most := "x", 200
		if i%2 == 1 {
			name, most = "busy", 5000
		}
		tt := newTerm(t, 80, 24)
		p := tt.vev(h, "attach", name)
		// At a point that is another each time: from before the first byte to in the middle of a screen.
		tt.until("some bytes", func(*vt.Terminal) bool { return tt.total >= int64(i*37%most) })
		p.signal(syscall.SIGKILL)
		require.Equal(t, -int(syscall.SIGKILL), p.exits())
	}
	settled := func() (broker, daemon int) {
		eventually(t, "nobody is attached", func() bool {
			b, d := h.stats()
			return d.Attachments == 0 && b.Streams <= 1
		})
		return openFiles(t, h.one("_broker")), openFiles(t, h.one("_daemon"))
	}
	for i := range 4 {
		round(i)
	}
	brokerFiles, daemonFiles := settled()
	broker, daemon := h.stats()
	for i := range 40 {
		round(i)
	}
	settled()
	eventually(t, "descriptors and goroutines are as before", func() bool {
		b, d := h.stats()
		return openFiles(t, b.Pid) <= brokerFiles && openFiles(t, d.Pid) <= daemonFiles &&
			b.Goroutines <= broker.Goroutines && d.Goroutines <= daemon.Goroutines
	})
	require.Empty(t, zombies(broker.Pid))
	require.Empty(t, zombies(daemon.Pid))
	require.Len(t, h.ls(), 2)
	h.ok("send", "x", "still")
	h.waitText("x", "still")
}

// TestMust5BrokerKilledWhilePasting: 1 MB each through two attached clients, raw and in lines with an echo, while every
// 200 ms for 10 s the broker is killed and the clients' connections are cut, be they the broker's or the daemon's. Every
// byte arrives once and in order.
func TestMust5BrokerKilledWhilePasting(t *testing.T) {
	const size = 1 << 20
	h := newHome(t)
	raw := pasteText(size)
	h.sh("raw", fmt.Sprintf("stty raw -echo; echo ready; head -c %d > raw.out; head -c 3 > raw.tail; echo fin''ished", size))
	cooked := newTerm(t, 80, 24)
	h.sh("cooked", "echo ready; cat > cooked.out; echo fin''ished; exec cat")
	rawTerm := newTerm(t, 80, 24)
	pr := rawTerm.vev(h, "attach", "raw")
	rawTerm.sees("ready")
	pc := cooked.vev(h, "attach", "cooked")
	cooked.sees("ready")

	pasted := make(chan error, 2)
	const bit = 16 << 10 // each 156 ms: the paste lasts as long as the killing
	for _, tt := range []*term{rawTerm, cooked} {
		go func() {
			pace := time.NewTicker(10 * time.Second / (size / bit))
			defer pace.Stop()
			for rest := raw; len(rest) > 0; rest = rest[min(bit, len(rest)):] {
				if _, err := tt.master.WriteString(rest[:min(bit, len(rest))]); err != nil {
					pasted <- err
					return
				}
				<-pace.C
			}
			pasted <- nil
		}()
	}
	kills, cuts := 0, 0
	reader := h.session("raw").Pid
	beat := time.NewTicker(200 * time.Millisecond)
	defer beat.Stop()
	late := time.Now().Add(2 * patience)
	for i := 0; i < 50 || kills <= 20 || cuts <= 20 || i%2 == 1; i++ { // on a slow machine a broker is back after some beats
		require.True(t, time.Now().Before(late), "the broker was killed %d times, %d connections were cut", kills, cuts)
		// It reads by fits and starts, so that input is on its way at every station when the cut comes.
		require.NoError(t, syscall.Kill(-reader, []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT}[i%2]))
		<-beat.C
		for _, pid := range h.role("_broker") {
			kill9(t, pid)
			kills++
		}
		cuts += cutConnections(t, pr.pid()) + cutConnections(t, pc.pid())
	}
	t.Logf("the broker was killed %d times, %d connections were cut", kills, cuts)
	require.NoError(t, <-pasted)
	require.NoError(t, <-pasted)
	rawTerm.typ("END")
	require.Zero(t, pr.exits())
	requireSame(t, raw, h.read("raw.out"))
	require.Equal(t, "END", h.read("raw.tail"), "nothing came twice")

	cooked.typ("\x04")
	cooked.sees("finished")
	requireSame(t, strings.ReplaceAll(raw, "\r", "\n"), h.read("cooked.out"))
}

// pasteText is size bytes of lines that differ, as a terminal sends them: with Enter at their ends.
func pasteText(size int) string {
	text := make([]byte, 0, size+100)
	for i := 0; len(text) < size; i++ {
		text = fmt.Appendf(text, "%07d %s\r", i, strings.Repeat(string(rune('a'+i%26)), i%70))
	}
	text = text[:size]
	text[size-1] = '\r'
	return string(text)
}

// requireSame compares long texts and shows where they part.
func requireSame(t *testing.T, want, got string) {
	t.Helper()
	if want == got {
		return
	}
	at := 0
	for at < len(want) && at < len(got) && want[at] == got[at] {
		at++
	}
	around := func(s string) string { return fmt.Sprintf("%q", s[max(0, min(at, len(s))-40):min(len(s), at+80)]) }
	t.Fatalf("%d bytes in place of %d; they part at %d:\n%s\n%s", len(got), len(want), at, around(want), around(got))
}

// TestBC47BigPaste: 10 MB into a program that echoes them, with the output taking its time: no stall, and Ctrl-C gets
// through in the middle.
func TestBC47BigPaste(t *testing.T) {
	const size = 10 << 20
	h := newHome(t)
	h.sh("quiet", fmt.Sprintf("stty raw -echo; echo ready; head -c %d > quiet.out; echo fin''ished; exec cat", size))
	tt := newTerm(t, 80, 24)
	tt.vev(h, "attach", "quiet")
	tt.sees("ready")
	text := pasteText(size)
	tt.typ(text)
	tt.sees("finished")
	requireSame(t, text, h.read("quiet.out"))

	h.sh("echo", "echo ready; cat; echo not reached")
	loud := newTerm(t, 80, 24)
	loud.vev(h, "attach", "echo")
	loud.sees("ready")
	pasted := make(chan struct{})
	go func() {
		defer close(pasted)
		_, _ = loud.master.WriteString(text[:size/4])
		_, _ = loud.master.WriteString("\x03")
	}()
	<-pasted
	eventually(t, "Ctrl-C ended it", func() bool {
		return !slices.ContainsFunc(h.ls(), func(s listed) bool { return s.Name == "echo" && s.State == "running" })
	})
}
