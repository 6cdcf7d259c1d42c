package sessionwire

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/protocol/wire"
)

// frameOf makes the frame of a body, whatever it holds.
func frameOf(t *testing.T, tag wirefmt.Number, body proto.Message) []byte {
	b, err := proto.Marshal(body)
	require.NoError(t, err)
	return append(appendHead(nil, tag, len(b)), b...)
}

// raw makes a frame from bytes.
func raw(tag wirefmt.Number, body []byte) []byte {
	return append(appendHead(nil, tag, len(body)), body...)
}

func long(n int) string { return strings.Repeat("n", n) }

func many[T any](n int, v T) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = v
	}
	return out
}

type refusal struct {
	what  string
	frame []byte
	says  string // "" : this frame is legal, the last one below the edge
}

func TestWhatAClientMustNotSend(t *testing.T) {
	size := wire.Size_builder{Cols: 80, Rows: 24}.Build()
	attach := func(create wire.Create_builder) []byte {
		return frameOf(t, tagAttach, wire.Attach_builder{Size: size, Create: create.Build()}.Build())
	}
	resize := func(cols, rows uint32) []byte {
		return frameOf(t, tagResize, wire.Resize_builder{Size: wire.Size_builder{Cols: cols, Rows: rows}.Build()}.Build())
	}
	request := func(r wire.Request_builder) []byte { return frameOf(t, tagRequest, r.Build()) }
	input := func(seq uint64, n int) []byte {
		return frameOf(t, tagInput, wire.Input_builder{Seq: seq, Data: make([]byte, n)}.Build())
	}
	token := func(n int) []byte {
		return frameOf(t, tagAttach, wire.Attach_builder{Size: size, Resume: wire.Resume_builder{Token: make([]byte, n)}.Build()}.Build())
	}
	detach := raw(tagDetach, nil)
	arg := []byte(long(1024))
	maxWait := uint32(protocol.MaxWait / time.Millisecond)
	unknown := protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 7)
	create := wire.Create_builder{Name: "w"}
	origin := func(terminal, host string, pid uint32) []byte {
		return frameOf(t, tagAttach, wire.Attach_builder{
			Size: size, Origin: wire.Origin_builder{Terminal: terminal, Host: host, Pid: pid}.Build(),
		}.Build())
	}

	for _, r := range []refusal{
		{"no field", []byte{0}, "the envelope cannot be read: invalid field number"},
		{"unknown tag", raw(10, nil), "message 10 is none of a session client"},
		{"a broker's tag", raw(101, nil), "message 101 is none of a session client"},
		{"no message", []byte{tagDetach << 3, 1}, "envelope field 7 is no message"},
		{"cut short", frameOf(t, tagAttach, wire.Attach_builder{Session: "work", Size: size}.Build())[:9], "message 1 is cut short: unexpected EOF"},
		{"two variants", append(append([]byte{}, detach...), detach...), "2 bytes follow message 7 in its envelope"},
		{"trailing bytes", append(append([]byte{}, detach...), 0, 0, 0), "3 bytes follow message 7 in its envelope"},
		{"unknown field in a message", raw(tagDetach, unknown), ""},
		{"unknown field in a hand-parsed message", raw(tagAck, unknown), ""},
		{"broken message", raw(tagDetach, []byte{0x0a}), "request cannot be read: unexpected EOF"},

		{"bad UTF-8", raw(tagAttach, append([]byte{0x0a, 2, 0xff, 0xfe}, frameOf(t, 4, size)...)), "attach holds text that is not UTF-8, or is malformed"},
		{"longest name", frameOf(t, tagAttach, wire.Attach_builder{Session: long(64), Size: size}.Build()), ""},
		{"name", frameOf(t, tagAttach, wire.Attach_builder{Session: long(65), Size: size}.Build()), "session of attach of 65 bytes is 1 over the limit of 64"},
		{"no size", frameOf(t, tagAttach, wire.Attach_builder{}.Build()), "terminal size is 0x0, must be 1x1 to 1000x500"},
		{"size twice", raw(tagResize, append(frameOf(t, 1, size), frameOf(t, 1, size)...)), "size of resize is given twice"},
		{"largest size", resize(1000, 500), ""},
		{"columns", resize(1001, 500), "terminal size is 1001x500, must be 1x1 to 1000x500"},
		{"rows", resize(1000, 501), "terminal size is 1000x501, must be 1x1 to 1000x500"},
		{"token", token(16), ""},
		{"short token", token(15), "token of resume has 15 bytes, must have 16"},
		{"long token", token(17), "token of resume of 17 bytes is 1 over the limit of 16"},

		{"most entries", attach(wire.Create_builder{Env: many(256, []byte("A=1"))}), ""},
		{"entries", attach(wire.Create_builder{Env: many(257, []byte("A=1"))}), "environment entry of new session: 257 given, 1 over the limit of 256"},
		{"longest entry", attach(wire.Create_builder{Env: [][]byte{[]byte(long(32 << 10))}}), ""},
		{"entry", attach(wire.Create_builder{Env: [][]byte{[]byte(long(32<<10 + 1))}}), "environment entry of new session of 32769 bytes is 1 over the limit of 32768"},
		{"most arguments", attach(wire.Create_builder{Argv: many(4096, []byte("a"))}), ""},
		{"arguments", attach(wire.Create_builder{Argv: many(4097, []byte("a"))}), "argument of new session: 4097 given, 1 over the limit of 4096"},
		{"longest arguments", attach(wire.Create_builder{Argv: many(128, arg)}), ""},
		{"arguments together", attach(wire.Create_builder{Argv: append(many(128, arg), []byte("a"))}), "argument of new session, together, of 131073 bytes is 1 over the limit of 131072"},
		{"argument with a NUL", attach(wire.Create_builder{Argv: [][]byte{[]byte("a\x00")}}), `argument "a\x00" holds a NUL`},
		{"entry with a NUL", attach(wire.Create_builder{Env: [][]byte{[]byte("a\x00")}}), `environment entry "a\x00" holds a NUL`},
		{"longest path", attach(wire.Create_builder{Dir: []byte("/" + long(4095))}), ""},
		{"path", attach(wire.Create_builder{Dir: []byte("/" + long(4096))}), "directory of new session of 4097 bytes is 1 over the limit of 4096"},
		{"relative path", attach(wire.Create_builder{Dir: []byte("home")}), `directory "home" is not absolute`},
		{"path with a NUL", attach(wire.Create_builder{Dir: []byte("/\x00")}), `directory "/\x00" holds a NUL`},

		{"first input", input(1, 1), ""},
		{"input without a number", input(0, 1), "input has no number"},
		{"empty input", input(3, 0), "input 3 is empty"},
		{"longest input", input(1, 64<<10), ""},
		{"input", input(1, 64<<10+1), "input of 65537 bytes is 1 over the limit of 65536"},

		{"longest timeout", request(wire.Request_builder{TimeoutMs: maxWait, List: new(wire.ListRequest)}), ""},
		{"timeout", request(wire.Request_builder{TimeoutMs: maxWait + 1, List: new(wire.ListRequest)}), "timeout is over the limit of 24h0m0s"},
		{"idle", request(wire.Request_builder{Wait: wire.WaitRequest_builder{IdleMs: 1 << 63}.Build()}), "idle time is over the limit of 24h0m0s"},
		{"two requests in one", raw(tagRequest, append(frameOf(t, 11, new(wire.ListRequest)), frameOf(t, 20, new(wire.StatsQuery))...)), "request holds two variants, list and stats"},
		{"a request of a newer peer", raw(tagRequest, append([]byte{8, 1}, frameOf(t, 30, new(wire.StatsQuery))...)), ""},
		{"most keys", request(wire.Request_builder{Keys: wire.KeysRequest_builder{Keys: many(256, "C-c")}.Build()}), ""},
		{"keys", request(wire.Request_builder{Keys: wire.KeysRequest_builder{Keys: many(257, "C-c")}.Build()}), "key of keys: 257 given, 1 over the limit of 256"},
		{"key", request(wire.Request_builder{Keys: wire.KeysRequest_builder{Keys: []string{long(65)}}.Build()}), "key of keys of 65 bytes is 1 over the limit of 64"},
		{"longest pattern", request(wire.Request_builder{Wait: wire.WaitRequest_builder{Text: long(4 << 10)}.Build()}), ""},
		{"pattern", request(wire.Request_builder{Wait: wire.WaitRequest_builder{Text: long(4<<10 + 1)}.Build()}), "text of wait of 4097 bytes is 1 over the limit of 4096"},
		{"typed text", request(wire.Request_builder{Type: wire.TypeRequest_builder{Data: make([]byte, 64<<10+1)}.Build()}), "data of type of 65537 bytes is 1 over the limit of 65536"},
		{"paste", request(wire.Request_builder{Paste: wire.PasteRequest_builder{Data: make([]byte, 64<<10+1)}.Build()}), "data of paste of 65537 bytes is 1 over the limit of 65536"},
		{"history lines", request(wire.Request_builder{Capture: wire.CaptureRequest_builder{HistoryLines: 1 << 31}.Build()}), "history of capture is 2147483648, must be 0 to 2147483647"},
		{"count", request(wire.Request_builder{History: wire.HistoryRequest_builder{Count: 1 << 31}.Build()}), "count of history is 2147483648, must be 0 to 2147483647"},
		{"new session in a request", request(wire.Request_builder{New: create.Build()}), ""},
		{"last policy", request(wire.Request_builder{Size: wire.SizeRequest_builder{SizePolicy: 3}.Build()}), ""},
		{"policy", request(wire.Request_builder{Size: wire.SizeRequest_builder{SizePolicy: 4}.Build()}), "size policy is 4, must be 0 to 3"},
		{"policy far away", request(wire.Request_builder{Size: wire.SizeRequest_builder{SizePolicy: 256}.Build()}), "size policy is 255, must be 0 to 3"},
		{"fixed size", request(wire.Request_builder{Size: wire.SizeRequest_builder{SizePolicy: 3, Size: wire.Size_builder{Cols: 1001, Rows: 1}.Build()}.Build()}), "session size is 1001x1, must be 1x1 to 1000x500"},
		{"policy of a new session", attach(wire.Create_builder{SizePolicy: 4}), "size policy is 4, must be 0 to 3"},
		{"longest origin", origin(long(255), long(255), 1<<31-1), ""},
		{"terminal", origin(long(256), "", 0), "terminal of origin of 256 bytes is 1 over the limit of 255"},
		{"host", origin("", long(256), 0), "host of origin of 256 bytes is 1 over the limit of 255"},
		{"process id", origin("", "", 1<<31), "process id of client is 2147483648, must be 0 to 2147483647"},
		{"new size", request(wire.Request_builder{New: wire.Create_builder{Size: wire.Size_builder{Cols: 1}.Build()}.Build()}), "session size is 1x0, must be 1x1 to 1000x500"},
	} {
		t.Run(r.what, func(t *testing.T) {
			_, err := new(clientDecoder).decode(r.frame)
			expect(t, r.says, err)
		})
	}
}

func expect(t *testing.T, says string, err error) {
	if says == "" {
		require.NoError(t, err)
		return
	}
	var b *breach
	require.ErrorAs(t, err, &b)
	require.Equal(t, says, err.Error())
}

func TestWhatAServerMustNotSend(t *testing.T) {
	size := wire.Size_builder{Cols: 80, Rows: 24}.Build()
	output := func(o wire.Output_builder) []byte { return frameOf(t, tagOutput, o.Build()) }
	state := func(o wire.Output_builder) []byte { o.Base, o.New = 1, 2; return output(o) }
	events := func(e ...*wire.Event) []byte { return output(wire.Output_builder{Events: e}) }
	event := func(e wire.Event_builder) []byte { e.Seq = 1; return events(e.Build()) }
	result := func(r wire.Result_builder) []byte { return frameOf(t, tagResult, r.Build()) }
	lines := func(n int) *wire.Lines {
		return wire.Lines_builder{Lines: many(n, new(wire.Line))}.Build()
	}
	capture := func(c wire.Capture_builder) []byte {
		if c.Size == nil {
			c.Size = size
		}
		if c.Cursor == nil {
			c.Cursor = wire.Cursor_builder{Col: 1, Row: 1}.Build()
		}
		return result(wire.Result_builder{Capture: c.Build()})
	}
	run := func(r wire.Run_builder) []byte {
		return result(wire.Result_builder{History: wire.Lines_builder{Lines: []*wire.Line{
			wire.Line_builder{Runs: []*wire.Run{r.Build()}}.Build(),
		}}.Build()})
	}
	pane := wire.PaneUpdate_builder{Size: size}.Build()
	place := func(col, row uint32) []byte {
		return state(wire.Output_builder{Layout: wire.Layout_builder{Size: size, Panes: []*wire.PanePlace{
			wire.PanePlace_builder{Col: col, Row: row, Size: wire.Size_builder{Cols: 10, Rows: 4}.Build()}.Build(),
		}}.Build()})
	}
	row := func(r wire.SessionRow_builder) []byte {
		r.Id = make([]byte, 16)
		return result(wire.Result_builder{Sessions: wire.SessionList_builder{Sessions: []*wire.SessionRow{r.Build()}}.Build()})
	}
	update := func(u wire.CatalogueUpdate_builder) []byte { return frameOf(t, tagUpdate, u.Build()) }
	updated := func(r wire.SessionRow_builder) []byte {
		r.Id = make([]byte, 16)
		return update(wire.CatalogueUpdate_builder{Revision: 1, Sessions: []*wire.SessionRow{r.Build()}})
	}
	title, bell := long(4<<10), true
	client := wire.ClientRow_builder{SessionId: make([]byte, 16), Size: size}
	clients := func(n int, c wire.ClientRow_builder) []byte {
		return result(wire.Result_builder{Clients: wire.ClientList_builder{Clients: many(n, c.Build())}.Build()})
	}

	for _, r := range []refusal{
		{"unknown tag", raw(6, nil), "message 6 is none of a session server"},
		{"events alone", events(wire.Event_builder{Seq: 9, Bell: &bell}.Build()), ""},
		{"state and full", output(wire.Output_builder{New: 7, Full: true}), ""},
		{"base of a full state", output(wire.Output_builder{Base: 6, New: 7, Full: true}), "a full state 7 has base 6"},
		{"gap", output(wire.Output_builder{Base: 5, New: 7}), "state 7 follows 5"},
		{"back", output(wire.Output_builder{Base: 7, New: 7}), "state 7 follows 7"},
		{"panes without a state", output(wire.Output_builder{Panes: many(1, pane)}), "an output without a state carries more than events and acknowledgements"},
		{"base without a state", output(wire.Output_builder{Base: 1}), "an output without a state carries more than events and acknowledgements"},
		{"most panes", state(wire.Output_builder{Panes: many(64, pane)}), ""},
		{"panes", state(wire.Output_builder{Panes: many(65, pane)}), "panes of output: 65 given, 1 over the limit of 64"},
		{"size of a pane", state(wire.Output_builder{Panes: many(1, new(wire.PaneUpdate))}), "pane size is 0x0, must be 1x1 to 1000x500"},
		{"two layouts", raw(tagOutput, append(frameOf(t, 7, new(wire.Layout)), frameOf(t, 7, new(wire.Layout))...)), "field 7 of output is given twice"},
		{"two sizes", raw(tagOutput, raw(8, append(frameOf(t, 5, size), frameOf(t, 5, size)...))), "field 5 of pane update is given twice"},
		{"last policy", state(wire.Output_builder{Layout: wire.Layout_builder{Size: size, SizePolicy: 3}.Build()}), ""},
		{"policy", state(wire.Output_builder{Layout: wire.Layout_builder{Size: size, SizePolicy: 256}.Build()}), "size policy is 255, must be 0 to 3"},
		{"size of a layout", state(wire.Output_builder{Layout: new(wire.Layout)}), "layout size is 0x0, must be 1x1 to 1000x500"},
		{"places", state(wire.Output_builder{Layout: wire.Layout_builder{Size: size, Panes: many(65, new(wire.PanePlace))}.Build()}), "panes of layout: 65 given, 1 over the limit of 64"},
		{"last place", place(70, 20), ""},
		{"place to the right", place(71, 20), "pane 0 of 10x4 at column 71, row 20 lies outside a layout of 80x24"},
		{"place below", place(70, 21), "pane 0 of 10x4 at column 70, row 21 lies outside a layout of 80x24"},
		{"far place", place(1<<32-1, 0), "pane 0 of 10x4 at column 4294967295, row 0 lies outside a layout of 80x24"},

		{"event 0", events(new(wire.Event)), "event 0 follows 0"},
		{"event twice", events(wire.Event_builder{Seq: 2}.Build(), wire.Event_builder{Seq: 2}.Build()), "event 2 follows 2"},
		{"an event of a newer peer", raw(tagOutput, raw(9, []byte{8, 1, 0x68, 1})), ""},
		{"two events in one", raw(tagOutput, raw(9, []byte{8, 1, eventBell << 3, 1, eventProgress << 3, 9})), "event holds two variants, 3 and 8"},
		{"longest title", event(wire.Event_builder{Title: &title}), ""},
		{"title", raw(tagOutput, raw(9, append([]byte{8, 1}, raw(eventTitle, []byte(title+"x"))...))), "title of 4097 bytes is 1 over the limit of 4096"},
		{"title that is not UTF-8", raw(tagOutput, raw(9, append([]byte{8, 1}, raw(eventTitle, []byte("\xff"))...))), "title is not UTF-8"},
		{"directory", raw(tagOutput, raw(9, append([]byte{8, 1}, raw(eventCwd, []byte(title+"x"))...))), "directory of 4097 bytes is 1 over the limit of 4096"},
		{"name", raw(tagOutput, raw(9, append([]byte{8, 1}, raw(eventRenamed, []byte(long(65)))...))), "name of 65 bytes is 1 over the limit of 64"},
		{"notification", event(wire.Event_builder{Notification: wire.Notification_builder{Body: title + "x"}.Build()}), "notification of 4097 bytes is 1 over the limit of 4096"},
		{"largest clipboard", event(wire.Event_builder{Clipboard: wire.Clipboard_builder{Data: make([]byte, 8<<20)}.Build()}), ""},
		{"clipboard", event(wire.Event_builder{Clipboard: wire.Clipboard_builder{Data: make([]byte, 8<<20+1)}.Build()}), "clipboard of 8388609 bytes is 1 over the limit of 8388608"},
		{"selection", event(wire.Event_builder{Clipboard: wire.Clipboard_builder{Selection: title + "x"}.Build()}), "selection of 4097 bytes is 1 over the limit of 4096"},
		{"mark", event(wire.Event_builder{PromptMark: wire.PromptMark_builder{Kind: 'E'}.Build()}), "prompt mark 69 is none of A to D"},
		{"large mark", event(wire.Event_builder{PromptMark: wire.PromptMark_builder{Kind: 'A' + 256}.Build()}), "prompt mark 321 is none of A to D"},

		{"id", frameOf(t, tagAttached, wire.Attached_builder{SessionId: make([]byte, 15), Token: make([]byte, 16), Size: size}.Build()), "session id of attached has 15 bytes, must have 16"},
		{"token", frameOf(t, tagAttached, wire.Attached_builder{SessionId: make([]byte, 16), Size: size}.Build()), "token of attached has 0 bytes, must have 16"},
		{"refused without a reason", raw(tagRefused, nil), "refused does not say why"},
		{"ended without a reason", raw(tagEnded, nil), "reason of ended is 0, must be 1 to 6"},
		{"ended with another reason", raw(tagEnded, []byte{8, 7}), "reason of ended is 7, must be 1 to 6"},
		{"ended in failure without one", raw(tagEnded, []byte{8, 6}), "ended has failed and does not say how"},
		{"signal", frameOf(t, tagEnded, wire.Ended_builder{Reason: 1, Exit: wire.ExitStatus_builder{Signal: 128}.Build()}.Build()), "signal is 128, must be 0 to 127"},
		{"longest failure", frameOf(t, tagRefused, wire.Refused_builder{Failure: wire.Failure_builder{Text: long(512), Hint: long(512)}.Build()}.Build()), ""},
		{"failure", frameOf(t, tagRefused, wire.Refused_builder{Failure: wire.Failure_builder{Text: long(513)}.Build()}.Build()), "text of failure of 513 bytes is 1 over the limit of 512"},
		{"hint", frameOf(t, tagRefused, wire.Refused_builder{Failure: wire.Failure_builder{Hint: long(513)}.Build()}.Build()), "hint of failure of 513 bytes is 1 over the limit of 512"},

		{"outcome", result(wire.Result_builder{Outcome: 3}), "outcome of result is 3, must be 0 to 2"},
		{"failed without a failure", result(wire.Result_builder{Outcome: 1}), "result 0 has failed and does not say how"},
		{"two results in one", raw(tagResult, append(raw(10, nil), raw(12, nil)...)), "result holds two variants, sessions and wait"},
		{"a result of a newer peer", raw(tagResult, append([]byte{8, 1}, raw(30, nil)...)), ""},
		{"most lines", result(wire.Result_builder{History: lines(1000)}), ""},
		{"lines", result(wire.Result_builder{History: lines(1001)}), "line of lines: 1001 given, 1 over the limit of 1000"},
		{"most lines of a capture", capture(wire.Capture_builder{Lines: lines(1500)}), ""},
		{"lines of a capture", capture(wire.Capture_builder{Lines: lines(1501)}), "line of lines: 1501 given, 1 over the limit of 1500"},
		{"text of a line", result(wire.Result_builder{History: wire.Lines_builder{Lines: many(1, wire.Line_builder{Text: long(64<<10 + 1)}.Build())}.Build()}), "text of line of 65537 bytes is 1 over the limit of 65536"},
		{"runs", result(wire.Result_builder{History: wire.Lines_builder{Lines: many(1, wire.Line_builder{Runs: many(1001, wire.Run_builder{Col: 1, Len: 1}.Build())}.Build())}.Build()}), "run of line: 1001 given, 1 over the limit of 1000"},
		{"last run", run(wire.Run_builder{Col: 1000, Len: 1}), ""},
		{"run to the right", run(wire.Run_builder{Col: 1001, Len: 1}), "column of run is 1001, must be 1 to 1000"},
		{"run too long", run(wire.Run_builder{Col: 1000, Len: 2}), "length of run is 2, must be 1 to 1"},
		{"underline", run(wire.Run_builder{Col: 1, Len: 1, Underline: 256}), "underline of run is 256, must be 0 to 5"},
		{"link", run(wire.Run_builder{Col: 1, Len: 1, Link: title + "x"}), "link of run of 4097 bytes is 1 over the limit of 4096"},
		{"cursor right", capture(wire.Capture_builder{Cursor: wire.Cursor_builder{Col: 81, Row: 1}.Build()}), "cursor column is 81, must be 1 to 80"},
		{"cursor below", capture(wire.Capture_builder{Cursor: wire.Cursor_builder{Col: 1, Row: 25}.Build()}), "cursor row is 25, must be 1 to 24"},
		{"state", capture(wire.Capture_builder{State: 256}), "session state is 256, must be 0 to 1"},
		{"modes", capture(wire.Capture_builder{Modes: many(65, "m")}), "mode of capture: 65 given, 1 over the limit of 64"},
		{"title of a capture", capture(wire.Capture_builder{Title: title + "x"}), "title of capture of 4097 bytes is 1 over the limit of 4096"},
		{"most sessions", result(wire.Result_builder{Sessions: wire.SessionList_builder{Sessions: many(1024, wire.SessionRow_builder{Id: make([]byte, 16)}.Build())}.Build()}), ""},
		{"sessions", result(wire.Result_builder{Sessions: wire.SessionList_builder{Sessions: many(1025, wire.SessionRow_builder{Id: make([]byte, 16)}.Build())}.Build()}), "session of sessions: 1025 given, 1 over the limit of 1024"},
		{"most clients", clients(1024, client), ""},
		{"clients", clients(1025, client), "client of clients: 1025 given, 1 over the limit of 1024"},
		{"client without a size", clients(1, wire.ClientRow_builder{SessionId: make([]byte, 16)}), "client size is 0x0, must be 1x1 to 1000x500"},
		{"client without a session", clients(1, wire.ClientRow_builder{Size: size}), "session id of client has 0 bytes, must have 16"},
		{"policy of a session", row(wire.SessionRow_builder{SizePolicy: 4}), "size policy is 4, must be 0 to 3"},
		{"last time", row(wire.SessionRow_builder{CreatedUnixMs: maxTimeMS}), ""},
		{"time", row(wire.SessionRow_builder{CreatedUnixMs: maxTimeMS + 1}), "creation of session in ms is 253402300800000, must be 0 to 253402300799999"},
		{"time before", row(wire.SessionRow_builder{LastUsedUnixMs: -1}), "last use of session in ms is -1, must be 0 to 253402300799999"},
		{"state of a session", row(wire.SessionRow_builder{State: 2}), "session state is 2, must be 0 to 1"},
		{"first update", update(wire.CatalogueUpdate_builder{Revision: 1}), ""},
		{"no revision", update(wire.CatalogueUpdate_builder{}), "revision 0 of the catalogue follows 0"},
		{"gap in revisions", update(wire.CatalogueUpdate_builder{Base: 3, Revision: 5}), "revision 5 of the catalogue follows 3"},
		{"last revision", update(wire.CatalogueUpdate_builder{Base: 1<<64 - 1}), "revision 0 of the catalogue follows 18446744073709551615"},
		{"most gone", update(wire.CatalogueUpdate_builder{Revision: 1, Gone: many(1024, make([]byte, 16))}), ""},
		{"gone", update(wire.CatalogueUpdate_builder{Revision: 1, Gone: many(1025, make([]byte, 16))}), "id of catalogue update: 1025 given, 1 over the limit of 1024"},
		{"short id of one gone", update(wire.CatalogueUpdate_builder{Revision: 1, Gone: many(1, make([]byte, 15))}), "id of a session that is gone has 15 bytes, must have 16"},
		{"rows of an update", update(wire.CatalogueUpdate_builder{Revision: 1, Sessions: many(1025, wire.SessionRow_builder{Id: make([]byte, 16)}.Build())}), "session of catalogue update: 1025 given, 1 over the limit of 1024"},
		{"longest row", updated(wire.SessionRow_builder{Title: title[:1024], Cwd: []byte(title[:1024]), Command: many(64, []byte(title[:16]))}), ""},
		{"title of a row", updated(wire.SessionRow_builder{Title: title[:1025]}), "title of session of 1025 bytes is 1 over the limit of 1024"},
		{"directory of a row", updated(wire.SessionRow_builder{Cwd: []byte(title[:1025])}), "directory of session of 1025 bytes is 1 over the limit of 1024"},
		{"arguments of a row", updated(wire.SessionRow_builder{Command: many(65, []byte("a"))}), "argument of session: 65 given, 1 over the limit of 64"},
		{"arguments of a row together", updated(wire.SessionRow_builder{Command: many(2, []byte(title[:513]))}), "argument of session, together, of 1026 bytes is 2 over the limit of 1024"},
		{"state of a row", updated(wire.SessionRow_builder{State: 2}), "session state is 2, must be 0 to 1"},
		{"two answers", raw(tagWatching, append(raw(1, nil), raw(1, nil)...)), "catalogue of watching is given twice"},
		{"an answer of a newer peer", raw(tagWatching, raw(4, nil)), ""},
		{"largest preview", frameOf(t, tagPreview, wire.Preview_builder{Sequence: 1, Content: make([]byte, 64<<10)}.Build()), ""},
		{"preview", frameOf(t, tagPreview, wire.Preview_builder{Sequence: 1, Content: make([]byte, 64<<10+1)}.Build()), "content of preview of 65537 bytes is 1 over the limit of 65536"},
		{"preview without sequence", frameOf(t, tagPreview, wire.Preview_builder{}.Build()), "preview has no sequence"},
		{"last preview", frameOf(t, tagPreview, wire.Preview_builder{Sequence: 1, Ended: true}.Build()), ""},
		{"last preview with content", frameOf(t, tagPreview, wire.Preview_builder{Sequence: 1, Ended: true, Content: []byte("x")}.Build()), "the preview that ends has content"},
		{"match", result(wire.Result_builder{Wait: wire.WaitResult_builder{Match: long(64<<10 + 1)}.Build()}), "match of wait result of 65537 bytes is 1 over the limit of 65536"},
		{"uptime", result(wire.Result_builder{Stats: wire.DaemonStats_builder{UptimeMs: 1 << 60}.Build()}), "uptime of stats in ms is 1152921504606846976, must be 0 to 9223372036854"},
		{"numbers", result(wire.Result_builder{Stats: wire.DaemonStats_builder{Pid: 1 << 31}.Build()}), "a number of stats is 2147483648, must be 0 to 2147483647"},
	} {
		t.Run(r.what, func(t *testing.T) {
			_, err := new(serverDecoder).decode(r.frame)
			expect(t, r.says, err)
		})
	}
}

func TestUnknownFailureCodesAreInternal(t *testing.T) {
	for code, want := range map[uint32]fault.Kind{
		uint32(fault.Unknown): fault.Unknown, uint32(fault.Unknown) + 1: fault.Internal,
		256 + uint32(fault.Usage): fault.Internal, 1<<32 - 1: fault.Internal,
	} {
		m, err := new(serverDecoder).decode(frameOf(t, tagRefused, wire.Refused_builder{
			Failure: wire.Failure_builder{Code: code, Text: "x"}.Build(),
		}.Build()))
		require.NoError(t, err)
		require.Equal(t, want, m.(*protocol.Refused).Failure.Kind, code)
	}
}

func TestSendingHoldsUsToTheSameLimits(t *testing.T) {
	size := domain.DefaultSize
	for _, c := range []struct {
		m    any
		kind fault.Kind
		says string
	}{
		{&protocol.Attach{Size: size, Create: &protocol.Create{Command: domain.Command{Env: many(257, "A=1")}}}, fault.Limit, "environment entry of new session: 257 given, 1 over the limit of 256"},
		{&protocol.Attach{Session: "a\xff", Size: size}, fault.Usage, "attach holds text that is not UTF-8"},
		{&protocol.Resize{Size: domain.Size{Cols: -1, Rows: 1}}, fault.Limit, "terminal size is -1x1, must be 1x1 to 1000x500"},
		{&protocol.Request{Timeout: protocol.MaxWait + 1}, fault.Limit, "timeout is 24h0m0.000000001s, must be 0 to 24h0m0s"},
		{&protocol.Request{Timeout: -1}, fault.Limit, "timeout is -1ns, must be 0 to 24h0m0s"},
		{&protocol.Request{Body: &protocol.History{Count: -1}}, fault.Limit, "count of history is -1, must be 0 to 2147483647"},
		{&protocol.Input{Seq: 1, Data: make([]byte, 64<<10+1)}, fault.Limit, "input of 65537 bytes is 1 over the limit of 65536"},
		{&protocol.Output{Events: []protocol.Event{{Seq: 1, Body: protocol.ProgressEvent{Percent: -1}}}}, fault.Limit, "progress is -1, must be 0 to 4294967295"},
		{&protocol.Output{New: 3, Base: 1}, fault.Internal, "state 3 follows 1"},
		{&protocol.Output{Events: make([]protocol.Event, 257)}, fault.Limit, "events of output: 257 given, 1 over the limit of 256"},
		{&protocol.Result{Outcome: protocol.OutcomeFailed}, fault.Internal, "result 0 has failed and does not say how"},
		{&protocol.Result{Body: &protocol.Lines{List: make([]protocol.Line, 1001)}}, fault.Limit, "line of lines: 1001 given, 1 over the limit of 1000"},
	} {
		var err error
		rest := fault.Internal
		switch m := c.m.(type) {
		case protocol.SessionClientMessage:
			rest = fault.Usage
			_, err = appendClient(nil, m)
		case protocol.SessionServerMessage:
			_, err = appendServer(nil, m)
		}
		require.Error(t, err, c.says)
		err = refusedToSend(err, rest)
		require.Equal(t, c.says, err.Error())
		require.Equal(t, c.kind, fault.KindOf(err), c.says)
	}
}

func TestShortTimesDoNotBecomeNone(t *testing.T) {
	frame, err := appendClient(nil, &protocol.Request{Timeout: time.Nanosecond, Body: &protocol.Wait{Idle: time.Microsecond}})
	require.NoError(t, err)
	m, err := new(clientDecoder).decode(frame)
	require.NoError(t, err)
	r := m.(*protocol.Request)
	require.Equal(t, time.Millisecond, r.Timeout)
	require.Equal(t, time.Millisecond, r.Body.(*protocol.Wait).Idle)
}
