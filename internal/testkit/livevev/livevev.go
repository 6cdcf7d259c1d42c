package livevev

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Program is the vev that Main built.
var Program string

// Main builds vev, from the module that the working directory is in, has the tests find it in PATH and its home in
// VEV_HOME, runs them, and ends broker and daemon, and with them every session. It is for TestMain; the result is the exit code.
func Main(m *testing.M) int {
	dir, err := os.MkdirTemp("", "vev-live")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	Program = filepath.Join(dir, "vev")
	build := exec.Command("go", "build", "-o", Program, "github.com/vev-term/vev/cmd/vev")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "cannot build vev: %s\n%s", err, out)
		return 1
	}
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_ = os.Setenv("VEV_HOME", home)
	_ = os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	defer end(home)
	return m.Run()
}

// end asks broker and daemon to end, and waits until they have; their logs say their process ids.
func end(home string) {
	var pids []int
	for _, role := range []string{"broker", "daemon"} {
		logs, _ := filepath.Glob(filepath.Join(home, "state", role+"-*.log"))
		for _, name := range logs {
			data, _ := os.ReadFile(name)
			pids = append(pids, started(string(data))...)
		}
	}
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGTERM)
	}
	deadline := time.Now().Add(10 * time.Second)
	for _, pid := range pids {
		for syscall.Kill(pid, 0) == nil && time.Now().Before(deadline) {
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// started are the processes that a log says were started.
func started(log string) (pids []int) {
	for _, line := range strings.Split(log, "\n") {
		_, rest, ok := strings.Cut(line, "pid=")
		if !ok || !strings.Contains(line, "msg=started") {
			continue
		}
		text, _, _ := strings.Cut(rest, " ")
		if pid, err := strconv.Atoi(text); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
