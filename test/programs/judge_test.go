//go:build linux

package programs

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// screens are the texts after each step, as the engine has them.
func (r *recording) screens() (all [][]string) {
	t := newEngine(r)
	r.replay(t, whole, func(step) { all = append(all, texts(t)) })
	return all
}

// judgedByTmux compares the text after each step with what a pane of tmux shows of the same bytes.
func judgedByTmux(t *testing.T, r *recording) {
	tmux := need(t, "tmux")
	dir := t.TempDir()
	conf := file(t, "tmux.conf", "set -g status off\nset -g default-terminal tmux-256color\n")
	ask := func(args ...string) string {
		cmd := exec.Command(tmux, append([]string{"-S", filepath.Join(dir, "socket"), "-f", conf}, args...)...)
		cmd.Env = []string{"LC_ALL=C.UTF-8", "TERM=xterm-256color", "PATH=" + os.Getenv("PATH"), "HOME=" + dir}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "tmux %v: %s", args, out)
		return string(out)
	}
	want := r.screens()
	for i, s := range r.steps {
		input := filepath.Join(dir, fmt.Sprint("input", i))
		require.NoError(t, os.WriteFile(input, r.bytes[:s.end], 0o600))
		// The title comes behind all else: once it is there the rest has been read. CAN ends a sequence that was cut.
		script := fmt.Sprintf(`stty raw -echo; cat %s; printf '\030\033]2;read-%d\007'; exec cat >/dev/null`, input, i)
		ask("new-session", "-d", "-s", fmt.Sprint("s", i), "-x", fmt.Sprint(s.size.Cols), "-y", fmt.Sprint(s.size.Rows), script)
		target := fmt.Sprintf("s%d:", i)
		require.Eventually(t, func() bool {
			return strings.TrimSpace(ask("display-message", "-p", "-t", target, "#{pane_title}")) == fmt.Sprint("read-", i)
		}, 20*time.Second, 10*time.Millisecond)
		got := strings.Split(ask("capture-pane", "-p", "-t", target), "\n")
		require.Equal(t, r.comparable(want[i]), r.comparable(got), "after %q", s.what)
	}
	ask("kill-server")
}

// comparable cuts blanks at the ends of lines, blank lines at the end, and what is disputed.
func (r *recording) comparable(lines []string) []string {
	var out []string
	for _, l := range lines {
		if _, rest, ok := strings.Cut(l, "|"); ok && r.disputed {
			l = rest
		}
		out = append(out, strings.TrimRight(l, " "))
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// oneEmoji reports whether at most one emoji of two columns is before the first |: xterm knows no clusters and prints a
// family's members one behind the other, over which what follows has to be painted.
func oneEmoji(line string) bool {
	before, _, _ := strings.Cut(line, "|")
	n := 0
	for _, r := range before {
		if r >= 0x1f400 && r < 0x1fb00 {
			n++
		}
	}
	return n <= 1
}

// judgedByXterm compares the text after each step with what a real xterm shows of the same bytes.
func judgedByXterm(t *testing.T, all []*recording) {
	oracle, err := filepath.Abs(filepath.Join("..", "..", "..", "shared", "vt-oracle", "xterm_oracle.py"))
	require.NoError(t, err)
	if _, err := os.Stat(oracle); err != nil {
		t.Skip("../shared/vt-oracle is not beside the checkout")
	}
	python := need(t, "python3")
	need(t, "xterm")
	need(t, "xvfb-run")
	type job struct {
		Name  string   `json:"name"`
		B64   string   `json:"b64,omitempty"`
		Lines []string `json:"lines,omitempty"`
	}
	var jobs bytes.Buffer
	type screen struct {
		of    *recording
		lines []string
	}
	want := map[string]screen{}
	in := json.NewEncoder(&jobs)
	for _, r := range all {
		screens := r.screens()
		for i, s := range r.steps {
			name := fmt.Sprintf("%s, step %d, after %q", r.name, i, s.what)
			want[name] = screen{r, screens[i]}
			require.NoError(t, in.Encode(job{Name: name, B64: base64.StdEncoding.EncodeToString(r.bytes[:s.end])}))
		}
	}
	cmd := exec.Command(python, oracle, fmt.Sprint(size.Cols), fmt.Sprint(size.Rows))
	cmd.Stdin, cmd.Stderr = &jobs, os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	answers := json.NewDecoder(bytes.NewReader(out))
	n := 0
	for ; answers.More(); n++ {
		var a job
		require.NoError(t, answers.Decode(&a))
		of := want[a.Name].of
		require.NotNil(t, of, a.Name)
		for _, l := range a.Lines {
			require.True(t, !of.disputed || oneEmoji(l), "%s: what is behind %q is in other columns", a.Name, l)
		}
		require.Equal(t, of.comparable(want[a.Name].lines), of.comparable(a.Lines), a.Name)
	}
	require.Equal(t, len(want), n)
}
