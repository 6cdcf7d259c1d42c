//go:build linux

package netsim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/testkit/carriage"
)

// vev is the binary under test, built without the race detector: what is tested is what people run.
var vev string

// Roles of this program on the hosts of a lab.
const (
	nearRole = "_near" // ADDRESS
	farRole  = "_far"  // ADDRESS VEV
	quicRole = "_quic" // a broker that reaches every host over QUIC: -
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && (os.Args[1] == nearRole || os.Args[1] == farRole || os.Args[1] == quicRole) {
		if err := play(os.Args[1], os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "vev-netsim-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	vev = filepath.Join(dir, "vev")
	out, err := exec.Command("go", "build", "-o", vev, "github.com/vev-term/vev/cmd/vev").CombinedOutput()
	// What vev leaves running becomes this process's child, and is ended by it.
	if err = errors.Join(err, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)); err != nil {
		fmt.Fprintf(os.Stderr, "vev does not build: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// play is one role, on the host that it was started on, until SIGTERM.
func play(role string, args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	ready := func() { os.Stdout.Close() }
	switch role {
	case nearRole:
		return carriage.Near(ctx, args[0], ready)
	case quicRole:
		return playQUIC(ctx, ready)
	}
	l, err := net.Listen("tcp", args[0])
	if err != nil {
		return err
	}
	ready()
	return carriage.Far(ctx, l, args[1])
}
