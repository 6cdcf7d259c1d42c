//go:build linux

package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// vev is the binary under test. It is built without the race detector: what is measured is what people run.
var vev string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	if os.Getenv(connectEnv) != "" {
		return m.Run() // a helper process of one test
	}
	dir, err := os.MkdirTemp("", "vev-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := prepare(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if left := descendants(os.Getpid()); len(left) > 0 && code == 0 {
		fmt.Fprintln(os.Stderr, "the tests left processes behind:")
		for _, pid := range left {
			fmt.Fprintf(os.Stderr, "  %d %s %q\n", pid, procState(pid), procFile(pid, "cmdline"))
		}
		return 1
	}
	return code
}

// prepare builds vev into dir and makes this process the parent of whatever vev leaves running. Other users may look
// into dir: one test runs vev as another user.
func prepare(dir string) error {
	vev = filepath.Join(dir, "vev")
	out, err := exec.Command("go", "build", "-o", vev, "github.com/vev-term/vev/cmd/vev").CombinedOutput()
	if err != nil {
		return fmt.Errorf("vev does not build: %w\n%s", err, out)
	}
	return errors.Join(os.Chmod(dir, 0o755), unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
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

// needRoot is for tests that act as another user.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() == 0 {
		return
	}
	if os.Getenv("VEV_TEST_STRICT") == "1" {
		t.Fatal("acting as another user takes root, and VEV_TEST_STRICT=1 wants every test")
	}
	t.Skip("acting as another user takes root")
}
