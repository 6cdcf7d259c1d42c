package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/client"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/testkit/livevev"
)

func TestMain(m *testing.M) { os.Exit(livevev.Main(m)) }

// agent is a program that speaks the protocol, and the log of its calls.
type agent struct {
	t       *testing.T
	session *sdk.ClientSession
	mu      sync.Mutex
	calls   []Call
}

func serve(t *testing.T, o Options) *agent {
	t.Helper()
	a := &agent{t: t}
	o.Client = client.New(client.Options{})
	o.Record = func(c Call) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.calls = append(a.calls, c)
	}
	server, err := New(o)
	require.NoError(t, err)
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- server.Run(context.Background(), fromClient, toClient) }()
	c := sdk.NewClient(&sdk.Implementation{Name: "tester", Version: "1"}, nil)
	a.session, err = c.Connect(context.Background(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = a.session.Close()
		_ = toServer.Close()
		require.NoError(t, <-done)
	})
	return a
}

// call calls a tool and reads its answer into out; the text of a refusal is returned.
func (a *agent) call(tool string, args map[string]any, out any) (refusal string) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	r, err := a.session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return err.Error()
	}
	if r.IsError {
		return r.Content[0].(*sdk.TextContent).Text
	}
	if out != nil {
		data, err := json.Marshal(r.StructuredContent)
		require.NoError(a.t, err)
		require.NoError(a.t, json.Unmarshal(data, out))
	}
	return ""
}

func (a *agent) must(tool string, args map[string]any, out any) {
	a.t.Helper()
	require.Empty(a.t, a.call(tool, args, out), tool)
}

func TestAgentDrivesASession(t *testing.T) {
	a := serve(t, Options{})
	var made listed
	a.must("new", map[string]any{"command": []string{"sh", "-c", "read x; echo got $x; read y; exit 3"}, "cols": 60, "rows": 10}, &made)
	require.True(t, made.Writable)
	require.Equal(t, 60, made.Cols)
	a.must("type", map[string]any{"session": made.Address, "text": "one", "enter": true}, nil)
	var met waitOut
	a.must("wait", map[string]any{"session": made.Address, "text": "^got "}, &met)
	require.Equal(t, "got one", *met.Match)
	var screen captureOut
	a.must("capture", map[string]any{"session": made.Address}, &screen)
	require.Contains(t, screen.Text, "got one\n")
	require.Equal(t, 10, screen.Rows)
	a.must("paste", map[string]any{"session": made.Address, "text": "two"}, nil)
	a.must("key", map[string]any{"session": made.Address, "keys": []string{"Enter"}}, nil)
	a.must("wait", map[string]any{"session": made.Address, "exit": true}, &met)
	require.Equal(t, 3, *met.Status)
	var list listOut
	a.must("list", map[string]any{}, &list)
	found := false
	for _, s := range list.Sessions {
		if s.ID == made.ID {
			found = true
			require.Equal(t, "exited", s.State)
			require.True(t, s.Writable)
		}
	}
	require.True(t, found)
	a.must("kill", map[string]any{"session": made.Address}, nil)
	require.Contains(t, a.call("kill", map[string]any{"session": made.Address}, nil), "no session")

	a.mu.Lock()
	defer a.mu.Unlock()
	var tools []string
	for _, c := range a.calls {
		require.Equal(t, "tester", c.Caller)
		require.WithinDuration(t, time.Now(), c.At, time.Minute)
		tools = append(tools, c.Tool)
	}
	require.Equal(t, []string{"new", "type", "wait", "capture", "paste", "key", "wait", "list", "kill", "kill"}, tools)
	require.Equal(t, fault.NotFound, fault.KindOf(a.calls[9].Failed))
	require.Equal(t, made.Address, a.calls[1].Session)
}

func TestRunAnswersWithOutputAndStatus(t *testing.T) {
	a := serve(t, Options{})
	var made listed
	a.must("new", map[string]any{"command": []string{"bash", "--norc", "--noprofile"}, "cols": 40, "rows": 10}, &made)
	var r runOut
	a.must("run", map[string]any{"session": made.Address, "command": "x=5; seq 3; (exit 7)"}, &r)
	require.Equal(t, "1\n2\n3\n", r.Output)
	require.Equal(t, 7, *r.Status)
	a.must("run", map[string]any{"session": made.Address, "command": "echo $x; seq 100000"}, &r)
	require.True(t, r.Cut)
	require.True(t, strings.HasSuffix(r.Output, "99999\n100000\n"))
	require.LessOrEqual(t, len(r.Output), MaxAnswer)
	require.Zero(t, *r.Status)
	a.must("run", map[string]any{"session": made.Address, "command": "cat", "timeout_seconds": 0.3}, &r)
	require.True(t, r.TimedOut)
	require.Nil(t, r.Status)
	require.Contains(t, a.call("run", map[string]any{"session": made.Address, "command": "echo no"}, nil), "prompt")
	a.must("key", map[string]any{"session": made.Address, "keys": []string{"C-d"}}, nil)
	a.must("kill", map[string]any{"session": made.Address}, nil)
}

func TestEventsAreToldOnceAndInOrder(t *testing.T) {
	a := serve(t, Options{})
	var made listed
	a.must("new", map[string]any{"name": "eventful", "command": []string{"sh", "-c", "read x; printf '\\007'; read y"}}, &made)
	var first, second eventsOut
	a.must("events", map[string]any{"session": "eventful", "timeout_seconds": 5}, &first)
	require.NotEmpty(t, first.Events)
	require.Equal(t, "created", first.Events[0].Type)
	a.must("type", map[string]any{"session": "eventful", "text": "x", "enter": true}, nil)
	a.must("events", map[string]any{"session": "eventful", "since": first.Last, "types": []string{"bell"}, "timeout_seconds": 20}, &second)
	require.Len(t, second.Events, 1)
	require.Equal(t, "bell", second.Events[0].Type)
	require.Greater(t, second.Last, first.Last)
	a.must("events", map[string]any{"session": "eventful", "since": second.Last, "types": []string{"bell"}, "timeout_seconds": 0.2}, &first)
	require.Empty(t, first.Events)
	require.Equal(t, second.Last, first.Last)
	require.Contains(t, a.call("events", map[string]any{"types": []string{"nonsense"}}, nil), "no event")
	a.must("kill", map[string]any{"session": "eventful"}, nil)
}

func TestSessionsAreRenamedAndResized(t *testing.T) {
	a := serve(t, Options{})
	var made, renamed listed
	a.must("new", map[string]any{"name": "first", "command": []string{"cat"}}, &made)
	a.must("rename", map[string]any{"session": "first", "name": "second"}, &renamed)
	require.Equal(t, "second", renamed.Address)
	require.Equal(t, made.ID, renamed.ID)
	require.True(t, renamed.Writable)
	require.Contains(t, a.call("rename", map[string]any{"session": "second", "name": "no name"}, nil), "name")
	require.Contains(t, a.call("rename", map[string]any{"session": "second", "name": strings.Repeat("x", 65)}, nil), "name")
	require.Contains(t, a.call("rename", map[string]any{"session": "first", "name": "third"}, nil), "no session")
	a.must("resize", map[string]any{"session": "second", "cols": 50, "rows": 12}, nil)
	require.Contains(t, a.call("resize", map[string]any{"session": "second", "cols": 0, "rows": 12}, nil), "cols")
	var screen captureOut
	a.must("capture", map[string]any{"session": "second"}, &screen)
	require.Equal(t, [2]int{50, 12}, [2]int{screen.Cols, screen.Rows})
	var attached clientsOut
	a.must("clients", map[string]any{"session": "second"}, &attached)
	require.Empty(t, attached.Clients)
	require.Contains(t, a.call("clients", map[string]any{"session": "first"}, nil), "no session")
	a.must("kill", map[string]any{"session": "second"}, nil)
}

// A session that a person made is read, and not written to: under its name, its id, or after it took the name of one that was made here.
func TestOnlyWhatWasMadeHereIsWrittenTo(t *testing.T) {
	ctx := context.Background()
	c := client.New(client.Options{})
	theirs, err := c.Create(ctx, client.Create{Name: "theirs", Command: []string{"cat"}})
	require.NoError(t, err)
	info, err := theirs.Info(ctx)
	require.NoError(t, err)
	theirs, err = theirs.ByID(info.ID)
	require.NoError(t, err)
	defer func() { require.NoError(t, theirs.Kill(ctx)) }()

	a := serve(t, Options{})
	refused := func(address string) {
		t.Helper()
		for tool, args := range map[string]map[string]any{
			"type": {"text": "x"}, "key": {"keys": []string{"Enter"}}, "paste": {"text": "x"}, "kill": {},
			"rename": {"name": "renamed"}, "resize": {"cols": 10, "rows": 10}, "run": {"command": "x"},
		} {
			args["session"] = address
			require.Contains(t, a.call(tool, args, nil), "may only be read", tool)
		}
	}
	refused("theirs")
	refused(info.ID)
	a.must("capture", map[string]any{"session": "theirs"}, nil)

	var made listed
	a.must("new", map[string]any{"name": "mine", "command": []string{"cat"}}, &made)
	mine, err := c.Session("mine")
	require.NoError(t, err)
	require.NoError(t, mine.Rename(ctx, "other"))
	require.NoError(t, theirs.Rename(ctx, "mine"))
	refused("mine")
	a.must("type", map[string]any{"session": "other", "text": "x"}, nil)
	a.must("kill", map[string]any{"session": made.ID}, nil)
}

func TestPatternsAllowMore(t *testing.T) {
	ctx := context.Background()
	c := client.New(client.Options{})
	for _, name := range []string{"job-1", "job-2x", "jobless"} {
		s, err := c.Create(ctx, client.Create{Name: name, Command: []string{"cat"}})
		require.NoError(t, err)
		defer s.Kill(ctx)
	}
	a := serve(t, Options{Allow: []string{"job-?", "none"}})
	a.must("type", map[string]any{"session": "job-1", "text": "x"}, nil)
	for _, name := range []string{"job-2x", "jobless"} {
		require.Contains(t, a.call("type", map[string]any{"session": name, "text": "x"}, nil), "--allow "+name)
	}
	for _, bad := range []string{"[", "", "a[b"} {
		_, err := New(Options{Allow: []string{bad}})
		require.Equal(t, fault.Usage, fault.KindOf(err), bad)
	}
}

func TestReadOnlyServerHasNoToolThatChangesAnything(t *testing.T) {
	a := serve(t, Options{ReadOnly: true, Allow: []string{"*"}})
	list, err := a.session.ListTools(context.Background(), nil)
	require.NoError(t, err)
	for _, tool := range list.Tools {
		require.True(t, tool.Annotations.ReadOnlyHint, tool.Name)
	}
	for _, tool := range []string{"new", "type", "key", "paste", "kill", "run", "rename", "resize"} {
		require.NotEmpty(t, a.call(tool, map[string]any{}, nil), tool)
	}
}

// What an inspector of the protocol looks for: each tool says what it does, takes an object without more than it names, and bounds all of it.
func TestSchemasAreTight(t *testing.T) {
	a := serve(t, Options{})
	list, err := a.session.ListTools(context.Background(), nil)
	require.NoError(t, err)
	names := map[string]bool{}
	for _, tool := range list.Tools {
		names[tool.Name] = true
		require.NotEmpty(t, tool.Description, tool.Name)
		require.NotNil(t, tool.Annotations, tool.Name)
		require.NotNil(t, tool.OutputSchema, tool.Name)
		schema := tool.InputSchema.(map[string]any)
		require.Equal(t, "object", schema["type"], tool.Name)
		require.Equal(t, map[string]any{"not": map[string]any{}}, closedTo(schema), tool.Name)
		properties, _ := schema["properties"].(map[string]any)
		for name, p := range properties {
			require.NoError(t, bounded(p.(map[string]any)), "%s.%s", tool.Name, name)
		}
	}
	for _, name := range []string{"list", "new", "type", "key", "paste", "capture", "wait", "kill", "run", "events", "rename", "resize", "clients"} {
		require.True(t, names[name], name)
	}
	require.Contains(t, a.call("type", map[string]any{"session": "x", "text": "y", "more": 1}, nil), "more")
	require.Contains(t, a.call("type", map[string]any{"session": "x", "text": ""}, nil), "text")
	require.Contains(t, a.call("capture", map[string]any{"session": "x", "history": MaxHistory + 1}, nil), "history")
}

// closedTo is what a schema says of properties that it does not name, false as an object.
func closedTo(schema map[string]any) any {
	if schema["additionalProperties"] == false {
		return map[string]any{"not": map[string]any{}}
	}
	return schema["additionalProperties"]
}

func bounded(p map[string]any) error {
	switch p["type"] {
	case "string":
		if p["maxLength"] == nil {
			return fmt.Errorf("a string without maxLength")
		}
	case "integer", "number":
		if p["minimum"] == nil || p["maximum"] == nil {
			return fmt.Errorf("a number without bounds")
		}
	case "array":
		if p["maxItems"] == nil {
			return fmt.Errorf("a list without maxItems")
		}
		return bounded(p["items"].(map[string]any))
	case "boolean":
	default:
		return fmt.Errorf("type %v", p["type"])
	}
	return nil
}

func TestAnswersAndInputsAreBounded(t *testing.T) {
	a := serve(t, Options{})
	var made listed
	a.must("new", map[string]any{"command": []string{"sh", "-c", "yes 0123456789012345678901234567890123456789012345678901234567890123456789 | head -6000; printf end; cat"}}, &made)
	a.must("wait", map[string]any{"session": made.Address, "text": "^end"}, nil)
	var screen captureOut
	a.must("capture", map[string]any{"session": made.Address, "history": MaxHistory}, &screen)
	require.True(t, screen.Cut)
	require.LessOrEqual(t, len(screen.Text), MaxAnswer)
	require.Greater(t, len(screen.Text), MaxAnswer-100)
	require.True(t, strings.HasPrefix(screen.Text, "0123"), "from a line's beginning")
	require.Contains(t, a.call("type", map[string]any{"session": made.Address, "text": strings.Repeat("é", MaxText-1)}, nil), "at most")
	var met waitOut
	a.must("wait", map[string]any{"session": made.Address, "exit": true, "timeout_seconds": 0.05}, &met)
	require.Empty(t, met.Met)
	require.Contains(t, a.call("wait", map[string]any{"session": made.Address}, nil), "nothing to wait for")
	a.must("kill", map[string]any{"session": made.Address}, nil)
}

func TestSessionsThatOneServerMakesAreBounded(t *testing.T) {
	a := serve(t, Options{})
	for range MaxMade {
		var made listed
		a.must("new", map[string]any{"command": []string{"true"}}, &made)
	}
	require.Contains(t, a.call("new", map[string]any{"command": []string{"true"}}, nil), "64")
}

func TestNewestKeepsCharactersWhole(t *testing.T) {
	all := strings.Repeat("é", MaxAnswer/2) + "x"
	kept, cut := newest(all)
	require.True(t, cut)
	require.True(t, strings.HasPrefix(kept, "é"))
	kept, cut = newest(all[2:])
	require.False(t, cut)
	require.Equal(t, all[2:], kept)
}
