package sessionwire

import (
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// maxField is the largest field number of the messages below.
const maxField = 30

// fields has each field at its number; the zero field is a number or unknown, and bounded by
// its own size. Slices and values, not maps and pointers: the linker lays them out, and they
// cost no start.
type fields = []field

// Widths of names that the limits table does not list.
const (
	idBytes      = 16
	versionBytes = 128 // of software
	styleBytes   = 32  // of a cursor or a mode
)

// name is a field that names a session: a session name or 32 hexadecimal digits. What several shapes share is a function:
// so the compiler lays them all out, and no process makes them when it starts.
func name(n string) field { return field{name: n, bytes: domain.MaxNameBytes} }

// The shapes of what fields*.go decode. A test compares them with the schema.
var (
	sizeShape  = shape{"size", fields{}}
	exitShape  = shape{"exit status", fields{}}
	emptyShape = shape{"request", fields{}}

	failureShape = shape{"failure", fields{
		2: {name: "text", bytes: fault.MaxText},
		3: {name: "hint", bytes: fault.MaxText},
	}}
	originShape = shape{"origin", fields{
		1: {name: "terminal", bytes: protocol.MaxHostBytes},
		2: {name: "host", bytes: protocol.MaxHostBytes},
	}}
	createShape = shape{"new session", fields{
		1: name("name"),
		2: {name: "argument", bytes: protocol.MaxArgBytes, count: protocol.MaxArgs, total: protocol.MaxArgBytes},
		3: {name: "environment entry", bytes: protocol.MaxEnvEntryBytes, count: protocol.MaxEnvEntries},
		4: {name: "directory", bytes: protocol.MaxPathBytes},
		5: {name: "size", of: &sizeShape},
	}}
	resumeShape = shape{"resume", fields{1: {name: "token", bytes: protocol.MaxTokenBytes}}}
	attachShape = shape{"attach", fields{
		1: name("session"),
		4: {name: "size", of: &sizeShape},
		5: {name: "new session", of: &createShape},
		6: {name: "resume", of: &resumeShape},
		7: {name: "agent", bytes: protocol.MaxPathBytes},
		8: {name: "origin", of: &originShape},
	}}
	resizeShape = shape{"resize", fields{
		1: {name: "size", of: &sizeShape},
		2: {name: "terminal", bytes: protocol.MaxHostBytes},
	}}
	watchShape = shape{"watch", fields{
		1: {name: "catalogue", of: &emptyShape},
		2: {name: "events", of: &shape{"events", fields{1: name("session")}}},
		3: {name: "previews", of: &shape{"previews", fields{
			1: {name: "session id", bytes: idBytes},
			2: {name: "size", of: &sizeShape},
		}}},
	}}
	requestShape = shape{"request", fields{
		10: {name: "new", of: &createShape, union: true},
		11: {name: "list", of: &emptyShape, union: true},
		12: {name: "kill", of: &shape{"kill", fields{1: name("session")}}, union: true},
		13: {name: "rename", of: &shape{"rename", fields{1: name("session"), 2: name("name")}}, union: true},
		14: {name: "detach", of: &shape{"detach", fields{1: name("session")}}, union: true},
		15: {name: "type", of: &typeShape, union: true},
		16: {name: "keys", of: &keysShape, union: true},
		17: {name: "paste", of: &pasteShape, union: true},
		18: {name: "capture", of: &shape{"capture", fields{1: name("session")}}, union: true},
		19: {name: "wait", of: &shape{"wait", fields{1: name("session"), 2: {name: "text", bytes: protocol.MaxPatternBytes}}}, union: true},
		20: {name: "stats", of: &emptyShape, union: true},
		21: {name: "history", of: &shape{"history", fields{1: name("session")}}, union: true},
		22: {name: "search", of: &shape{"search", fields{1: name("session"), 3: {name: "pattern", bytes: protocol.MaxPatternBytes}}}, union: true},
		23: {name: "clients", of: &shape{"clients", fields{1: name("session")}}, union: true},
		24: {name: "detach client", of: &shape{"detach client", fields{1: name("session")}}, union: true},
		25: {name: "size", of: &shape{"size", fields{1: name("session"), 3: {name: "size", of: &sizeShape}}}, union: true},
		26: {name: "run", of: &shape{"run", fields{
			1: name("session"),
			2: {name: "command", bytes: protocol.MaxCommandBytes},
			4: author(),
		}}, union: true},
		27: {name: "read run", of: &shape{"read run", fields{1: name("session")}}, union: true},
		28: {name: "lock", of: &shape{"lock", fields{1: name("session"), 3: author()}}, union: true},
		29: {name: "guarded", of: &shape{"guarded", fields{
			3: {name: "type", of: &typeShape},
			4: {name: "keys", of: &keysShape},
			5: {name: "paste", of: &pasteShape},
		}}, union: true},
		30: {name: "await", of: &shape{"await", fields{1: name("session"), 2: {name: "text", bytes: protocol.MaxPatternBytes}}}, union: true},
	}}
)

// author is a field that says who typed.
func author() field { return field{name: "author", bytes: protocol.MaxAuthorBytes} }

func inputField() field { return field{name: "data", bytes: protocol.MaxInputBytes} }

// The shapes of input.
var (
	typeShape = shape{"type", fields{1: name("session"), 2: inputField(), 3: author()}}
	keysShape = shape{"keys", fields{
		1: name("session"),
		2: {name: "key", bytes: protocol.MaxKeyBytes, count: protocol.MaxKeys},
		3: author(),
	}}
	pasteShape = shape{"paste", fields{1: name("session"), 2: inputField(), 5: author()}}
)

var (
	attachedShape = shape{"attached", fields{
		1: {name: "session id", bytes: idBytes},
		2: name("name"),
		3: {name: "token", bytes: protocol.MaxTokenBytes},
		5: {name: "size", of: &sizeShape},
	}}
	endedShape = shape{"ended", fields{
		2: {name: "exit status", of: &exitShape},
		3: {name: "failure", of: &failureShape},
	}}
	refusedShape = shape{"refused", fields{1: {name: "failure", of: &failureShape}}}
	resultShape  = shape{"result", fields{
		3:  {name: "failure", of: &failureShape},
		10: {name: "sessions", of: &sessionsShape, union: true},
		11: {name: "capture", of: &captureShape, union: true},
		12: {name: "wait", of: &shape{"wait result", fields{
			2: {name: "match", bytes: protocol.MaxLineBytes},
			3: {name: "exit status", of: &exitShape},
		}}, union: true},
		13: {name: "stats", of: &shape{"stats", fields{2: {name: "version", bytes: versionBytes}}}, union: true},
		14: {name: "history", of: &historyShape, union: true},
		15: {name: "found", of: &emptyShape, union: true},
		16: {name: "clients", of: &clientsShape, union: true},
		17: {name: "run", of: &shape{"run", fields{3: {name: "size", of: &sizeShape}}}, union: true},
		19: {name: "awaited", of: &shape{"awaited", fields{
			1: {name: "condition met", bytes: styleBytes},
			2: {name: "match", bytes: protocol.MaxLineBytes},
			3: {name: "exit status", of: &exitShape},
			4: {name: "event", of: &eventShape},
			5: {name: "condition", of: &conditionShape},
		}}, union: true},
		18: {name: "run output", of: &shape{"run output", fields{2: {name: "data", bytes: protocol.MaxRunBytes}}}, union: true},
	}}
	sessionsShape = shape{"sessions", fields{1: {name: "session", count: protocol.MaxSessions, of: &shape{"session", fields{
		1:  {name: "id", bytes: idBytes},
		2:  name("name"),
		4:  {name: "exit status", of: &exitShape},
		9:  {name: "argument", bytes: protocol.MaxArgBytes, count: protocol.MaxArgs, total: protocol.MaxArgBytes},
		10: {name: "directory", bytes: protocol.MaxPathBytes},
		11: {name: "title", bytes: protocol.MaxTextBytes},
		12: {name: "size", of: &sizeShape},
		14: {name: "condition", of: &conditionShape},
	}}}}}
	answerShape   = shape{"answer", fields{1: {name: "failure", of: &failureShape}}}
	watchingShape = shape{"watching", fields{
		1: {name: "catalogue", of: &answerShape},
		2: {name: "events", of: &answerShape},
		3: {name: "previews", of: &answerShape},
	}}
	previewShape = shape{"preview", fields{2: {name: "content", bytes: protocol.MaxPreviewBytes}}}
	eventsShape  = shape{"watched events", fields{1: {name: "event", count: protocol.MaxWatchedEvents, of: &eventShape}}}
	eventShape   = shape{"event", fields{
		3:  {name: "session id", bytes: idBytes},
		4:  name("name"),
		6:  {name: "title", bytes: domain.MaxEventText},
		7:  {name: "text", bytes: domain.MaxEventText},
		10: {name: "size", of: &sizeShape},
	}}
	conditionShape = shape{"condition", fields{2: {name: "reason", bytes: domain.MaxReasonBytes}}}
	// The rows of a catalogue are kept for many hosts, so they are smaller than those of a list.
	updateShape = shape{"catalogue update", fields{
		3: {name: "session", count: protocol.MaxSessions, of: &shape{"session", fields{
			1:  {name: "id", bytes: idBytes},
			2:  name("name"),
			4:  {name: "exit status", of: &exitShape},
			9:  {name: "argument", bytes: protocol.MaxRowTextBytes, count: protocol.MaxRowArgs, total: protocol.MaxRowTextBytes},
			10: {name: "directory", bytes: protocol.MaxRowTextBytes},
			11: {name: "title", bytes: protocol.MaxRowTextBytes},
			12: {name: "size", of: &sizeShape},
			14: {name: "condition", of: &conditionShape},
		}}},
		4: {name: "id", bytes: idBytes, count: protocol.MaxSessions},
	}}
	clientsShape = shape{"clients", fields{1: {name: "client", count: protocol.MaxConversations, of: &shape{"client", fields{
		2: {name: "session id", bytes: idBytes},
		3: name("session"),
		4: {name: "size", of: &sizeShape},
		8: {name: "origin", of: &originShape},
	}}}}}
	captureShape = shape{"capture", fields{
		1: {name: "size", of: &sizeShape},
		2: {name: "cursor", of: &shape{"cursor", fields{4: {name: "style", bytes: styleBytes}}}},
		4: {name: "title", bytes: protocol.MaxTextBytes},
		5: {name: "directory", bytes: protocol.MaxTextBytes},
		6: {name: "mode", bytes: styleBytes, count: protocol.MaxModes},
		7: {name: "lines", of: &capturedShape},
		9: {name: "exit status", of: &exitShape},
	}}
)

// Lines stand alone and, in a capture, include the screen's.
var (
	historyShape  = shape{"lines", fields{2: {name: "line", count: protocol.MaxHistoryLines, of: &lineShape}}}
	capturedShape = shape{"lines", fields{2: {name: "line", count: protocol.MaxHistoryLines + domain.MaxRows, of: &lineShape}}}
	lineShape     = shape{"line", fields{
		2: {name: "text", bytes: protocol.MaxLineBytes},
		4: {name: "run", count: domain.MaxCols, of: &shape{"run", fields{8: {name: "link", bytes: protocol.MaxTextBytes}}}},
	}}
)
