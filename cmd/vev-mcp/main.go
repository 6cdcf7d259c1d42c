// Vev-mcp serves vev's sessions over the Model Context Protocol on standard input and output: vev mcp becomes it.
//
// It is a program of its own because what the protocol needs would make each start of vev slower. It puts package
// client and package mcp together, and nothing else.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/client"
	"github.com/vev-term/vev/internal/adapters/audit"
	"github.com/vev-term/vev/internal/adapters/rundir"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/mcp"
	"github.com/vev-term/vev/internal/ports"
)

// version is set by the linker: -X main.version=...
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	err := command().ExecuteContext(ctx)
	stop()
	if err == nil {
		return
	}
	fmt.Fprintf(os.Stderr, "vev-mcp: %s\n", err)
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Hint != "" {
		fmt.Fprintf(os.Stderr, "  %s\n", e.Hint)
	}
	if fault.KindOf(err) == fault.Usage {
		os.Exit(2)
	}
	os.Exit(1)
}

func command() *cobra.Command {
	var o mcp.Options
	var vev string
	cmd := &cobra.Command{
		Use:           "vev-mcp [--allow PATTERN]... [--read-only]",
		Short:         "Serve vev's sessions over the Model Context Protocol: see vev mcp --help",
		Version:       version,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := rundir.Open()
			if err != nil {
				return err
			}
			calls := audit.New(dir.Log("mcp"), audit.Hash, slog.New(slog.NewTextHandler(os.Stderr, nil)))
			defer calls.Close()
			o.Record = func(c mcp.Call) { calls.Record(entry(c)) }
			o.Version = version
			o.Client = client.New(client.Options{Program: vev, Software: "vev-mcp " + version})
			server, err := mcp.New(o)
			if err != nil {
				return err
			}
			return server.Run(cmd.Context(), os.Stdin, output{os.Stdout})
		},
	}
	cmd.Flags().StringArrayVar(&o.Allow, "allow", nil, "may write to sessions named like `PATTERN`; may be given again")
	cmd.Flags().BoolVar(&o.ReadOnly, "read-only", false, "make nothing, write nowhere")
	cmd.Flags().StringVar(&vev, "vev", "", "the vev `PROGRAM` that is started from (default: in PATH)")
	return cmd
}

// entry is a call for the log. What was typed with it is in the daemon's.
func entry(c mcp.Call) ports.AuditEntry {
	e := ports.AuditEntry{At: c.At, Name: c.Session, Author: c.Caller, Kind: c.Tool}
	if c.Failed != nil {
		e.Refused = fault.KindOf(c.Failed).String()
	}
	return e
}

// output is the standard output, which stays open when a protocol on it ends.
type output struct{ io.Writer }

func (output) Close() error { return nil }
