//go:build linux

package e2e

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// caller is a program that has started vev mcp, with the protocol's own client.
type caller struct {
	t       *testing.T
	cmd     *exec.Cmd
	session *sdk.ClientSession
}

func callMCP(t *testing.T, h *home, args ...string) *caller {
	t.Helper()
	c := &caller{t: t, cmd: h.command(append([]string{"mcp"}, args...)...)}
	c.cmd.Stderr = os.Stderr
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var err error
	c.session, err = sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, nil).Connect(ctx, &sdk.CommandTransport{Command: c.cmd}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { c.session.Close() })
	return c
}

// call calls a tool; the text of a refusal is returned.
func (c *caller) call(tool string, args map[string]any, out any) (refusal string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := c.session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return err.Error()
	}
	if r.IsError {
		return r.Content[0].(*sdk.TextContent).Text
	}
	if out != nil {
		data, err := json.Marshal(r.StructuredContent)
		require.NoError(c.t, err)
		require.NoError(c.t, json.Unmarshal(data, out))
	}
	return ""
}

// TestMCPServerAsAProcess: vev mcp as an agent starts it, here and for sessions of another machine.
func TestMCPServerAsAProcess(t *testing.T) {
	need(t, "bash")
	server := filepath.Join(filepath.Dir(vev), "vev-mcp")
	out, err := exec.Command("go", "build", "-o", server, "github.com/vev-term/vev/cmd/vev-mcp").CombinedOutput()
	require.NoError(t, err, "%s", out)
	t.Cleanup(func() { os.Remove(server) })

	work := func(t *testing.T, h *home, host string) {
		c := callMCP(t, h)
		var made struct {
			Address, ID string
			Writable    bool
		}
		require.Empty(t, c.call("new", map[string]any{"host": host, "name": "made", "command": []string{"bash", "--norc", "--noprofile"}}, &made))
		require.True(t, made.Writable)
		var run struct {
			Output string
			Status int
		}
		require.Empty(t, c.call("run", map[string]any{"session": made.Address, "command": "echo hello; (exit 3)"}, &run))
		require.Equal(t, "hello\n", run.Output)
		require.Equal(t, 3, run.Status)
		require.Empty(t, c.call("rename", map[string]any{"session": made.Address, "name": "renamed"}, &made))
		require.True(t, strings.HasSuffix(made.Address, "renamed"), made.Address)
		theirs := strings.Replace(made.Address, "renamed", "theirs", 1)
		require.Contains(t, c.call("kill", map[string]any{"session": theirs}, nil), "may only be read")
		require.Empty(t, c.call("capture", map[string]any{"session": theirs}, nil))
		require.Empty(t, c.call("kill", map[string]any{"session": made.Address}, nil))
		require.NoError(t, c.session.Close())
		require.True(t, c.cmd.ProcessState.Success(), "the end of its input ends it: %v", c.cmd.ProcessState)

		calls, err := filepath.Glob(filepath.Join(h.state(), "mcp-*.log"))
		require.NoError(t, err)
		require.Len(t, calls, 1)
		log, err := os.ReadFile(calls[0])
		require.NoError(t, err)
		require.Equal(t, 6, strings.Count(string(log), "\n"), "%s", log)
		require.Contains(t, string(log), `"author":"tester","kind":"kill"`)
	}
	t.Run("here", func(t *testing.T) {
		h := newHome(t)
		h.ok("new", "theirs", "-d", "--", "cat")
		work(t, h, "")
		allowed := callMCP(t, h, "--allow", "their?")
		require.Empty(t, allowed.call("type", map[string]any{"session": "theirs", "text": "allowed"}, nil))
		h.waitText("theirs", "allowed")
		reader := callMCP(t, h, "--read-only")
		tools, err := reader.session.ListTools(context.Background(), nil)
		require.NoError(t, err)
		for _, tool := range tools.Tools {
			require.True(t, tool.Annotations.ReadOnlyHint, tool.Name)
		}
		bad := h.vev("mcp", "--allow", "[")
		require.Equal(t, 2, bad.code, bad.stderr)
		require.Empty(t, bad.stdout, "standard output is the protocol's")
	})
	t.Run("over ssh", func(t *testing.T) {
		s := newSite(t)
		s.near.ok("new", "far:theirs", "-d", "--", "cat")
		work(t, s.near, "far")
	})
}
