//go:build linux

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// recorded is a line of the log of what programs typed.
type recorded struct {
	At                                         time.Time
	Session, Name, Author, Kind, Hash, Refused string
	Text                                       *string
	Bytes                                      int
}

// audit reads the log, which only its user may read.
func (h *home) audit() (list []recorded, all string) {
	h.t.Helper()
	logs, err := filepath.Glob(filepath.Join(h.state(), "audit-*.log"))
	require.NoError(h.t, err)
	require.Len(h.t, logs, 1)
	info, err := os.Stat(logs[0])
	require.NoError(h.t, err)
	require.Equal(h.t, os.FileMode(0o600), info.Mode().Perm())
	data, err := os.ReadFile(logs[0])
	require.NoError(h.t, err)
	for line := range strings.Lines(string(data)) {
		var r recorded
		require.NoError(h.t, json.Unmarshal([]byte(line), &r), line)
		list = append(list, r)
	}
	return list, string(data)
}

// TestAuditAndLock: what programs type, and are refused, is recorded with its author and without its text; a locked session
// takes the keys of people only.
func TestAuditAndLock(t *testing.T) {
	bash := need(t, "bash")
	h := newHome(t)
	h.ok("new", "work", "-d", "--", bash, "--norc", "--noprofile")
	h.ok("wait", "work", "--prompt", "--timeout", patience.String())
	id := h.session("work").ID
	robot := h.with("VEV_AUTHOR=robot 7")
	robot.ok("run", "work", "--", ": sesame")
	robot.ok("run", "work", "--", ": sesame")
	robot.ok("send", "work", "--author", "another", "echo sesame")
	robot.ok("key", "work", "C-u", "Enter")
	h.write("text", []byte("# sesame\n"))
	robot.ok("paste", "work", "text")
	robot.ok("lock", "work")

	tt := newTerm(t, 80, 24)
	p := tt.vev(h, "attach", "work")
	tt.sees("$")
	for _, args := range [][]string{
		{"send", "work", "echo by a program"},
		{"key", "work", "Enter"},
		{"paste", "work", "text"},
		{"run", "work", "--", "echo by a program"},
		{"send", "work", "--at-prompt", "echo by a program"},
	} {
		a := robot.vev(args...)
		require.Equal(t, 1, a.code, "%v", args)
		require.Contains(t, a.stderr, "the session is locked: only attached people may type")
	}
	tt.typ("echo by 'a 'person\r")
	tt.sees("by a person")
	require.NotContains(t, tt.text(), "by a program")
	require.Contains(t, robot.ok("capture", "work"), "by a person")
	robot.ok("lock", "work", "--unlock")
	require.Equal(t, "again\n", robot.ok("run", "work", "--", "echo again"))
	tt.typ("\x1cd")
	require.Zero(t, p.exits())

	list, all := h.audit()
	require.NotContains(t, all, "sesame")
	var kinds, refused []string
	for _, r := range list {
		require.WithinDuration(t, time.Now(), r.At, time.Hour)
		require.Equal(t, id, r.Session)
		require.Equal(t, "work", r.Name)
		require.Nil(t, r.Text)
		kinds = append(kinds, r.Kind)
		if r.Kind != "lock" && r.Kind != "unlock" {
			require.NotEmpty(t, r.Hash)
			require.Positive(t, r.Bytes)
		}
		if r.Refused != "" {
			refused = append(refused, r.Kind+" "+r.Refused)
		}
		require.Equal(t, map[bool]string{true: "another", false: "robot 7"}[r.Kind == "type" && r.Bytes == len("echo sesame")], r.Author)
	}
	require.Equal(t, []string{"run", "run", "type", "keys", "paste", "lock", "type", "keys", "paste", "run", "type", "unlock", "run"}, kinds)
	require.Equal(t, []string{"type denied", "keys denied", "paste denied", "run denied", "type denied"}, refused)
	require.Equal(t, list[0].Hash, list[1].Hash, "equal inputs are seen to be")
	require.NotEqual(t, list[0].Hash, list[2].Hash)
}

// TestAuditKeepsTextWhereItIsAskedTo, and nothing at all where it is turned off.
func TestAuditKeepsTextWhereItIsAskedTo(t *testing.T) {
	h := newHome(t)
	h.configure("audit = \"text\"\n")
	h.ok("new", "work", "-d", "--", "cat")
	h.ok("send", "work", "--author", "me", "héllo")
	list, _ := h.audit()
	require.Len(t, list, 1)
	require.Equal(t, "héllo", *list[0].Text)
	require.Equal(t, 6, list[0].Bytes)

	off := newHome(t)
	off.configure("audit = \"off\"\n")
	off.ok("new", "work", "-d", "--", "cat")
	off.ok("send", "work", "hello")
	logs, err := filepath.Glob(filepath.Join(off.state(), "audit-*.log"))
	require.NoError(t, err)
	require.Empty(t, logs)
}
