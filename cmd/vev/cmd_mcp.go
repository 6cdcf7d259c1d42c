package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/adapters/rundir"
	"github.com/vev-term/vev/internal/domain/fault"
)

func (c *cli) cmdMCP() *cobra.Command {
	var allow []string
	var readOnly bool
	cmd := &cobra.Command{
		Use:   "mcp [--allow PATTERN]... [--read-only]",
		Short: "Serve sessions to an agent, over the Model Context Protocol",
		Long: `Serve sessions to a program that speaks the Model Context Protocol on standard input and
output, as agents and editors start it. Its tools list and read every session; they write
only to sessions that they made themselves.

  --allow PATTERN  may also write to sessions with such a name, or HOST:NAME: * stands for
                   any characters, ? for one, [a-z] for one of a range
  --read-only      makes nothing and writes nowhere`,
		Example: `  vev mcp
  vev mcp --allow 'build-*' --allow 'desk:agent'
  vev mcp --read-only`,
		Args:              argCount(0, 0),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.mcp(allow, readOnly)
		},
	}
	cmd.Flags().StringArrayVar(&allow, "allow", nil, "may write to sessions named like `PATTERN`; may be given again")
	cmd.Flags().BoolVar(&readOnly, "read-only", false, "make nothing, write nowhere")
	return cmd
}

// mcp becomes the server, a program of its own: what the protocol needs would make every other command start later.
func (c *cli) mcp(allow []string, readOnly bool) error {
	own, err := rundir.Executable()
	if err != nil {
		return err
	}
	server, err := companion(mcpServer)
	if err != nil {
		return err
	}
	args := []string{mcpServer, "--vev", own}
	for _, p := range allow {
		args = append(args, "--allow", p)
	}
	if readOnly {
		args = append(args, "--read-only")
	}
	err = syscall.Exec(server, args, os.Environ())
	return fault.Wrap(fault.Unavailable, err, "cannot run %s", server)
}

// mcpServer is installed beside vev.
const mcpServer = "vev-mcp"

// companion finds a program that is installed beside this one, or in PATH.
func companion(name string) (string, error) {
	if own, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(own), name)
		if _, err := exec.LookPath(beside); err == nil {
			return beside, nil
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, err, "cannot find %s", name).WithHint("it is built and installed beside vev: make build makes both")
	}
	return path, nil
}
