package client_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/vev-term/vev/client"
)

// program is the vev that the tests start.
var program string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "vev-client")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "vev")
	if out, err := exec.Command("go", "build", "-o", program, "../cmd/vev").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "cannot build vev: %s\n%s", err, out)
		return 1
	}
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	os.Setenv("VEV_HOME", home)
	os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	defer endAll()
	return m.Run()
}

// endAll ends every session, and with the last of them what serves them.
func endAll() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c := client.New(client.Options{})
	list, _ := c.List(ctx, "")
	for _, info := range list {
		if s, err := c.Session(info.ID); err == nil {
			_ = s.Kill(ctx)
		}
	}
	for _, role := range []string{"daemon", "broker"} {
		endService(role)
	}
}
