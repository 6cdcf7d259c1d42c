//go:build unix

package carriage

import (
	"context"
	"net"
	"os"
	"os/exec"
	"sync"
)

// Far serves the TCP connections that l accepts, until ctx ends, each with a helper of the vev
// binary. The helpers have this process's environment. It closes l.
func Far(ctx context.Context, l net.Listener, vev string) error {
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { <-ctx.Done(); l.Close() })
	for {
		conn, err := l.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		all.Go(func() { help(ctx, conn.(*net.TCPConn), vev) })
	}
}

// help runs a helper on a connection, to its end or ctx's.
func help(ctx context.Context, conn *net.TCPConn, vev string) {
	f, err := conn.File()
	_ = conn.Close() // f is another descriptor of it
	if err != nil {
		return
	}
	cmd := exec.CommandContext(ctx, vev, "_broker-mux-stdio")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = f, f, os.Stderr
	err = cmd.Start()
	_ = f.Close()
	if err == nil {
		_ = cmd.Wait() // a connection that was cut is a failure to it, and none here
	}
}
