//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBC61OutputNeverBecomesInput: the program asks and provokes; all that comes back is what a terminal may answer.
func TestBC61OutputNeverBecomesInput(t *testing.T) {
	h := newHome(t)
	touched := filepath.Join(h.dir, "touched")
	hostile := `\033]2;;touch ` + touched + `;\r\007\033[21t\033[20t` +
		`\033P$qzz;echo pwned\r\033\\` +
		`\033]52;c;?\007` +
		`\033]99;i=$(id);x\033\\` +
		`\033]4;1;?\033\\\033]l;pwned\033\\` +
		`\r\n%%begin 1 1 1\r\n{"event":"pwned"}\r\n`
	h.write("hostile", []byte(hostile))
	for _, attached := range []bool{false, true} {
		name := fmt.Sprintf("x%v", attached)
		h.sh(name, `stty raw -echo; echo ready; read -r go; printf "$(cat hostile)"; printf '\033[5n'; cat > `+name+`.in`)
		h.waitText(name, "ready")
		tt := newTerm(t, 80, 24)
		if attached {
			tt.vev(h, "attach", name)
			tt.sees("ready")
		}
		h.ok("send", name, "\n")
		h.waitText(name, "%begin 1 1 1")
		in := filepath.Join(h.dir, name+".in")
		eventually(t, "the answer to the last question", func() bool {
			b, _ := os.ReadFile(in)
			return strings.HasSuffix(string(b), "\x1b[0n")
		})
		if attached {
			tt.sees("%begin 1 1 1")
			h.ok("send", name, "after")
			eventually(t, "what was typed after it", func() bool {
				b, _ := os.ReadFile(in)
				return strings.HasSuffix(string(b), "after")
			})
		}
		got := h.read(name + ".in")
		for _, chosen := range []string{"touch", "pwned", "zz", "id", "event", "begin"} {
			require.NotContains(t, got, chosen)
		}
	}
	_, err := os.Stat(touched)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestBC62hKeysBeforeTheShellIsReady: a long text and its Enter, sent at once, arrive whole.
func TestBC62hKeysBeforeTheShellIsReady(t *testing.T) {
	h := newHome(t)
	text := "echo " + strings.Repeat("0123456789", 105) // 1055 bytes
	h.sh("late", "sleep 0.3; exec sh")
	h.ok("send", "late", text)
	h.ok("key", "late", "Enter")
	h.ok("key", "late", "C-d")
	require.Equal(t, "0\n", h.ok("wait", "late", "--exit"))
	history := h.ok("capture", "late", "--history", "100")
	require.Equal(t, 2, strings.Count(strings.ReplaceAll(history, "\n", ""), strings.Repeat("0123456789", 105)), "typed and answered:\n%s", history)
}

// TestBC62iWaitInPlaceOfPolling: a text that came and went before the question counts as come when it is on the screen
// or newer, and a wait that is not met ends in time.
func TestBC62iWaitInPlaceOfPolling(t *testing.T) {
	h := newHome(t)
	h.sh("x", "echo begin; read a; seq 1 5000; echo special; seq 1 5000; read b; exit 9")
	h.waitText("x", "begin")
	eventually(t, "nobody else asks", func() bool { _, d := h.stats(); return d.Conversations == 1 })
	waited := make(chan answer, 1)
	go func() { waited <- h.vev("wait", "x", "--text", "^special$", "--timeout", "20s") }()
	eventually(t, "the wait is on", func() bool { _, d := h.stats(); return d.Conversations >= 2 })
	h.ok("key", "x", "Enter")
	require.Zero(t, (<-waited).code, "seen although it scrolled away at once")
	require.Equal(t, 4, h.vev("wait", "x", "--exit", "--timeout", "50ms").code)
	require.Zero(t, h.vev("wait", "x", "--idle", "100ms", "--timeout", "20s").code)
	h.ok("key", "x", "Enter")
	require.Equal(t, "9\n", h.ok("wait", "x", "--exit", "--timeout", "20s"))
}

// TestBC37DoctorSaysWhetherSessionsSurviveLogout: the user is told now, not at the next login.
func TestBC37DoctorSaysWhetherSessionsSurviveLogout(t *testing.T) {
	h := newHome(t)
	require.Contains(t, h.vev("doctor").stdout, "logout")
}
