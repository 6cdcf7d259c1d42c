package sessionwire

import (
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

var update = flag.Bool("update", false, "write testdata/v1 anew: only for messages that no release has spoken")

var (
	goldenID     = domain.SessionID{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	goldenToken  = protocol.Token{16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31}
	goldenTime   = time.UnixMilli(1700000000123).UTC()
	goldenFail   = protocol.Failure{Kind: fault.NotFound, Text: `no session "w"`, Hint: "vev ls shows what is running"}
	goldenOrigin = domain.Origin{Terminal: "xterm-kitty", Host: "desk", Pid: 4711}
	goldenSize   = domain.Size{Cols: 132, Rows: 43}
)

func goldenCreate() protocol.Create {
	return protocol.Create{
		Name: "work", Size: goldenSize,
		Command: domain.Command{Argv: []string{"vim", "-u", "NONE"}, Env: []string{"LANG=C.UTF-8", "X=\xff"}, Dir: "/home/u"},
	}
}

func goldenRequest(body protocol.RequestBody) protocol.SessionClientMessage {
	return &protocol.Request{ID: 300, Timeout: 1500 * time.Millisecond, Body: body}
}

// goldenClient has each message and each request, with every field set.
func goldenClient() map[string]protocol.SessionClientMessage {
	create := goldenCreate()
	return map[string]protocol.SessionClientMessage{
		"attach": &protocol.Attach{
			Session: "work", ReadOnly: true, Take: true, Size: goldenSize, Create: &create, Agent: "/tmp/ssh-1/agent.2",
			Resume: &protocol.Resume{Token: goldenToken, EventSeq: 7},
		},
		"attach_origin":         &protocol.Attach{Session: "work", Size: goldenSize, Origin: goldenOrigin},
		"request_new_largest":   goldenRequest(&protocol.New{Create: protocol.Create{HistoryLines: 5000, Policy: domain.SizeLargest}}),
		"request_new_elsewhere": goldenRequest(&protocol.New{Create: protocol.Create{OwnEnv: true}}),
		"watch":                 &protocol.Watch{},
		"watch_all": &protocol.Watch{
			Catalogue: &protocol.WatchCatalogue{}, Events: &protocol.WatchEvents{},
			Previews: &protocol.WatchPreviews{Session: goldenID, Size: goldenSize, Interval: protocol.FarPreviewInterval},
		},
		"input":                 &protocol.Input{Seq: 1 << 33, Data: []byte("ls\r\x1b[A\x00\xff")},
		"ack":                   &protocol.Ack{Epoch: 2, State: 1000, EventSeq: 5},
		"resize":                &protocol.Resize{Size: goldenSize},
		"resize_terminal":       &protocol.Resize{Size: goldenSize, Terminal: "xterm-kitty"},
		"detach":                &protocol.Detach{},
		"focus":                 &protocol.Focus{In: true},
		"cancel":                &protocol.Cancel{ID: 300},
		"request_new":           goldenRequest(&protocol.New{Create: create}),
		"request_list":          goldenRequest(&protocol.List{}),
		"request_brief":         goldenRequest(&protocol.List{Brief: true}),
		"request_kill":          goldenRequest(&protocol.Kill{Session: "work"}),
		"request_rename":        goldenRequest(&protocol.Rename{Session: "work", Name: "play"}),
		"request_detach":        goldenRequest(&protocol.DetachAll{Session: "work"}),
		"request_type":          goldenRequest(&protocol.Type{Session: "work", Data: []byte("make\r")}),
		"request_keys":          goldenRequest(&protocol.Keys{Session: "work", Names: []string{"C-c", "Enter"}}),
		"request_paste":         goldenRequest(&protocol.Paste{Session: "work", Data: []byte("a\nb"), Begin: true, End: true}),
		"request_capture":       goldenRequest(&protocol.Capture{Session: "work", HistoryLines: 500}),
		"request_wait":          goldenRequest(&protocol.Wait{Session: "work", Text: `\$ $`, Idle: 250 * time.Millisecond, Exit: true}),
		"request_stats":         goldenRequest(&protocol.Stats{}),
		"request_history":       goldenRequest(&protocol.History{Session: "work", Pane: 1, First: 100000, Count: 200}),
		"request_clients":       goldenRequest(&protocol.Clients{Session: "work"}),
		"request_detach_client": goldenRequest(&protocol.DetachClient{Session: "work", Client: 3}),
		"request_size":          goldenRequest(&protocol.SetSize{Session: "work", Policy: domain.SizeFixed, Size: goldenSize}),
		"request_search":        goldenRequest(&protocol.Search{Session: "work", Pane: 1, Pattern: "err(or)?", Line: 70000, Col: 12, Backward: true}),
		"request_search_around": goldenRequest(&protocol.Search{Session: "work", Pattern: "err(or)?", Line: 70000, Around: true}),
		"request_run":           goldenRequest(&protocol.RunCommand{Session: "work", Command: "make test", Generation: 7, Author: "ci@desk 12"}),
		"request_read_run":      goldenRequest(&protocol.ReadRun{Session: "work", Run: 3, Offset: 70000}),
		"watch_events": &protocol.Watch{Events: &protocol.WatchEvents{
			Session: "work", Since: 1700000000000000, Live: true, Types: domain.EventSet(0).With(domain.EventBell),
		}},
		"request_await": goldenRequest(&protocol.Await{
			Session: "work", Text: "x", Idle: time.Second, Exit: true, Prompt: true, Changed: true,
			Events: domain.EventSet(0).With(domain.EventBell), States: domain.ActivitySet(0).With(domain.AtInput), Since: 1700000000000000,
		}),
		"request_lock": goldenRequest(&protocol.Lock{Session: "work", Locked: true, Author: "u@desk 4"}),
		"request_guarded_type": goldenRequest(&protocol.Guarded{
			Generation: 7, AtPrompt: true, Type: &protocol.Type{Session: "work", Data: []byte("ls"), Author: "ci"},
		}),
		"request_guarded_keys": goldenRequest(&protocol.Guarded{
			Generation: 7, Keys: &protocol.Keys{Session: "work", Names: []string{"Enter"}, Author: "ci"},
		}),
		"request_guarded_paste": goldenRequest(&protocol.Guarded{
			AtPrompt: true, Paste: &protocol.Paste{Session: "work", Data: []byte("x"), Begin: true, End: true, Author: "ci"},
		}),
		"request_of_newer": &protocol.Request{ID: 1},
	}
}

func goldenResult(body protocol.ResultBody) protocol.SessionServerMessage {
	return &protocol.Result{ID: 300, Body: body}
}

func goldenLines() protocol.Lines {
	return protocol.Lines{First: 99, More: true, List: []protocol.Line{
		{N: 99, Text: "plain", Wrapped: true},
		{N: 100, Text: "wörld", Runs: []protocol.Run{{
			Col: 1, Len: 5, Fg: 1<<24 | 4, Bg: 2<<24 | 0x102030, UnderlineColor: 1<<24 | 1, Underline: 3,
			Attrs: protocol.AttrBold | protocol.AttrOverline, Link: "https://example.org/",
		}}},
	}}
}

func goldenRow() domain.SessionInfo {
	return domain.SessionInfo{
		ID: goldenID, Name: "work", State: domain.Exited, Exit: domain.ExitStatus{Code: 1}, Attached: 2, Created: goldenTime,
		LastUsed: goldenTime.Add(time.Hour), Pid: 4242, Command: []string{"sh", "-c", "exit 1"}, Cwd: "/home/u", Title: "sh", Size: goldenSize,
	}
}

// goldenServer has each message, each event and each result, with every field set.
func goldenServer() map[string]protocol.SessionServerMessage {
	lines := goldenLines()
	return map[string]protocol.SessionServerMessage{
		"attached": &protocol.Attached{
			ID: goldenID, Name: "work", Token: goldenToken, InputReceived: 12, Size: goldenSize, ReadOnly: true, Created: true,
		},
		"output_smallest": &protocol.Output{
			Epoch: 1, Base: 4, New: 5, Layout: &protocol.Layout{
				Size: goldenSize, Policy: domain.SizeSmallest, Panes: []protocol.PanePlace{{Pane: 1, Size: goldenSize}},
			},
		},
		"output_full": &protocol.Output{
			Epoch: 1, New: 1, Full: true, Echo: 3, InputAcked: 4,
			Layout: &protocol.Layout{Size: goldenSize, Panes: []protocol.PanePlace{
				{Pane: 1, Size: domain.Size{Cols: 66, Rows: 43}},
				{Pane: 2, Col: 67, Row: 1, Size: domain.Size{Cols: 65, Rows: 42}},
			}},
			Panes: []protocol.PaneUpdate{
				{Pane: 1, Data: []byte("\x1b[H$ "), ScreenTop: 57, FirstLine: 3, Size: domain.Size{Cols: 66, Rows: 43}},
				{Pane: 2, Size: domain.Size{Cols: 65, Rows: 42}},
			},
			Events: []protocol.Event{
				{Seq: 1, Pane: 1, Body: protocol.Bell{}},
				{Seq: 2, Pane: 1, Body: protocol.Title{Text: "vim"}},
				{Seq: 3, Pane: 1, Body: protocol.Cwd{Path: "file:///home/u"}},
				{Seq: 4, Pane: 1, Body: protocol.Clipboard{Selection: "c", Data: []byte("copied")}},
				{Seq: 5, Pane: 1, Body: protocol.Notification{Title: "build", Body: "done"}},
				{Seq: 6, Pane: 1, Body: protocol.ProgressEvent{Percent: 50}},
				{Seq: 7, Pane: 1, Body: protocol.PromptMark{Kind: 'D', Line: 56, Status: -1}},
				{Seq: 8, Body: protocol.Renamed{Name: "play"}},
				{Seq: 9, Body: protocol.Title{}},
				{Seq: 10},
			},
		},
		"output_next": &protocol.Output{
			Epoch: 1, Base: 300, New: 301, Echo: 20, InputAcked: 21,
			Panes: []protocol.PaneUpdate{{Pane: 1, Data: []byte("x"), ScreenTop: 57, Size: domain.DefaultSize}},
		},
		"output_acks":    &protocol.Output{Epoch: 1, Echo: 20, InputAcked: 22},
		"ended_exited":   &protocol.Ended{Reason: protocol.EndExited, Exit: domain.ExitStatus{Code: 3}},
		"ended_signal":   &protocol.Ended{Reason: protocol.EndExited, Exit: domain.ExitStatus{Signal: 9}},
		"ended_detached": &protocol.Ended{Reason: protocol.EndDetached},
		"ended_failed":   &protocol.Ended{Reason: protocol.EndFailed, Failure: &goldenFail},
		"refused":        &protocol.Refused{Failure: goldenFail},
		"watching": &protocol.Watching{
			Catalogue: &protocol.WatchAnswer{}, Events: &protocol.WatchAnswer{Failure: &goldenFail}, Previews: &protocol.WatchAnswer{},
		},
		"catalogue_update": &protocol.CatalogueUpdate{
			Base: 299, Revision: 300, Sessions: []domain.SessionInfo{goldenRow()}, Gone: []domain.SessionID{goldenID, {1}}, More: true,
		},
		"events": &protocol.WatchedEvents{Events: []domain.Event{{
			Seq: 1700000000000001, At: goldenTime, Session: goldenID, Name: "work", Type: domain.EventCommandEnd, Title: "t", Text: "x",
			Count: -1, Client: 3, Size: goldenSize, HasStatus: true, Status: 3, Took: 1500 * time.Millisecond,
		}}, Gap: protocol.EventGap{From: 5, To: 300}, Last: 1700000000000001},
		"preview":         &protocol.Preview{Sequence: 300, Content: []byte("\x1bc$ ls")},
		"preview_ended":   &protocol.Preview{Sequence: 301, Ended: true},
		"result_ok":       goldenResult(nil),
		"result_failed":   &protocol.Result{ID: 301, Outcome: protocol.OutcomeFailed, Failure: &goldenFail},
		"result_unknown":  &protocol.Result{ID: 302, Outcome: protocol.OutcomeUnknown},
		"result_sessions": goldenResult(&protocol.Sessions{List: []domain.SessionInfo{goldenRow()}}),
		"result_capture": goldenResult(&protocol.Captured{
			Size: goldenSize, CursorCol: 3, CursorRow: 43, Visible: true, CursorStyle: "block", Alternate: true, Title: "vim",
			Cwd: "/home/u", Modes: []string{"bracketed-paste"}, Lines: lines, State: domain.Exited, Exit: domain.ExitStatus{Code: 1},
		}),
		"result_wait": goldenResult(&protocol.WaitResult{Met: true, Match: "$ ", Exit: domain.ExitStatus{Signal: 15}}),
		"result_awaited": goldenResult(&protocol.Awaited{
			Met: "event", Match: "$ ", Exit: domain.ExitStatus{Code: 1}, Generation: 9, Last: 1700000000000001,
			Event:     &domain.Event{Seq: 1700000000000001, At: goldenTime, Session: goldenID, Name: "work", Type: domain.EventBell, Count: 1},
			Condition: domain.Condition{Activity: domain.Attention, Reason: "bell", Since: goldenTime},
		}),
		"result_run": goldenResult(&protocol.RunStarted{Run: 3, Generation: 8, Size: goldenSize}),
		"result_run_output": goldenResult(&protocol.RunOutput{
			Offset: 70000, Data: []byte("out\r\n"), Ended: true, HasStatus: true, Status: 3, Exited: true, Took: 1500 * time.Millisecond,
		}),
		"result_stats": goldenResult(&protocol.StatsResult{Stats: protocol.DaemonNumbers{
			Pid: 1, Version: "0.1.0", Uptime: time.Minute, UptimeMS: 60000, Sessions: 2, Attachments: 3, Resumable: 4, Conversations: 5,
			HistoryBytes: 6, OutputBytes: 7, StatesSent: 8, StateBytes: 9, WindowWaits: 10, UnackedBytes: 11, InputBytes: 12,
			InputQueued: 13, InputWaits: 14, HeapBytes: 15, Goroutines: 16, ForeignRefused: 17,
		}}),
		"result_history": goldenResult(&lines),
		"result_clients": goldenResult(&protocol.ClientList{List: []domain.ClientInfo{{
			ID: 3, Session: goldenID, SessionName: "work", Size: goldenSize, ReadOnly: true,
			Attached: time.UnixMilli(1700000000000).UTC(), LastActive: time.UnixMilli(1700000060000).UTC(),
			Origin: goldenOrigin,
		}}}),
		"result_found_around": goldenResult(&protocol.Found{Met: true, Line: 69000, Col: 7, Around: true}),
		"result_found":        goldenResult(&protocol.Found{Met: true, Line: 69000, Col: 7}),
	}
}

// Version 1 as it was first spoken: both directions of the codec must keep to these bytes.
func TestGoldenBytesOfVersion1(t *testing.T) {
	files := map[string]bool{}
	for what, m := range goldenClient() {
		files["client_"+what] = true
		frame, err := appendClient(nil, m)
		require.NoError(t, err, what)
		golden(t, "client_"+what, frame)
		got, err := new(clientDecoder).decode(frame)
		require.NoError(t, err, what)
		require.Equal(t, m, got, what)
	}
	for what, m := range goldenServer() {
		files["server_"+what] = true
		frame, err := appendServer(nil, m)
		require.NoError(t, err, what)
		golden(t, "server_"+what, frame)
		got, err := new(serverDecoder).decode(frame)
		require.NoError(t, err, what)
		require.Equal(t, m, withoutEmpty(got), what)
	}
	entries, err := os.ReadDir("testdata/v1")
	require.NoError(t, err)
	for _, e := range entries {
		require.True(t, files[strings.TrimSuffix(e.Name(), ".hex")], "%s is the bytes of no message", e.Name())
	}
}

func golden(t *testing.T, what string, frame []byte) {
	path := filepath.Join("testdata", "v1", what+".hex")
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(hexLines(frame)), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), hexLines(frame), what)
}

// hexLines is 32 bytes a line.
func hexLines(b []byte) string {
	var out strings.Builder
	for len(b) > 0 {
		n := min(32, len(b))
		out.WriteString(hex.EncodeToString(b[:n]) + "\n")
		b = b[n:]
	}
	return out.String()
}
