package protocol

import (
	"time"

	"github.com/vev-term/vev/internal/domain"
)

// SessionClientMessage is one message from a session client to its daemon. The first of a
// conversation is Attach, Watch or Request and says which kind the conversation is.
type SessionClientMessage interface{ sessionClient() }

// SessionServerMessage is one message from a daemon to its session client.
type SessionServerMessage interface{ sessionServer() }

// Token lets a client resume its attachment after a lost connection.
type Token [MaxTokenBytes]byte

type (
	// Attach begins an attachment. Session is a name, or a 32-digit hexadecimal id, or empty: the most
	// recently used one, or with Create a new one.
	Attach struct {
		Session  string
		ReadOnly bool
		Take     bool        // detach the others
		Size     domain.Size // of the client's terminal
		Agent    string      // path of the client's ssh agent socket on the daemon's machine, or empty
		Origin   domain.Origin
		Create   *Create // make the session if it is not there; nil: it must be there
		Resume   *Resume // go on with an attachment; the other fields but Size are ignored
	}

	// Create says what a new session is. An empty Name is the lowest free number.
	Create struct {
		Name    string
		Command domain.Command
		Size    domain.Size // zero: the attaching terminal's, or domain.DefaultSize
		// HistoryLines is how many lines that left the screen are kept, at most MaxKeptLines; 0 leaves it to the daemon.
		HistoryLines int
		Policy       domain.SizePolicy
		OwnEnv       bool // Command.Env goes over the daemon's own environment, for a client on another machine
	}

	// Resume carries what the client has of an attachment whose connection was lost. The
	// daemon answers with what it has of the client's input and a full state in a new epoch.
	Resume struct {
		Token    Token
		EventSeq uint64 // last event delivered
	}

	// Input is bytes for the program. Seq counts from 1 by one; Data has 1 to MaxInputBytes.
	Input struct {
		Seq  uint64
		Data []byte // valid until the receiver reads its next message
	}

	// Ack says that a state was applied, and with it all before it, and all events up to EventSeq.
	Ack struct {
		Epoch, State uint64
		EventSeq     uint64
		Held         time.Duration // how long the state waited for its acknowledgement, in µs
	}

	// Resize says what the client's terminal is from now on. Terminal is Origin's, where Attach left that out; empty: it is as
	// it was.
	Resize struct {
		Size     domain.Size
		Terminal string
	}
	// Focus says that the client's terminal got, or lost, the keyboard's focus.
	Focus  struct{ In bool }
	Detach struct{}
	// Watch asks to be told what happens at the daemon: each part that is not nil.
	Watch struct {
		Catalogue *WatchCatalogue
		Events    *WatchEvents
		Previews  *WatchPreviews
	}

	// Request asks one thing; exactly one Result with its id answers. Timeout 0: RequestTimeout. A nil
	// Body is a request of a newer peer: it is answered with fault.Unsupported.
	Request struct {
		ID      uint64
		Timeout time.Duration
		Body    RequestBody
	}
	// Cancel gives up on a running request; its Result still comes.
	Cancel struct{ ID uint64 }
)

type (
	// WatchCatalogue asks for the daemon's list of sessions: all of it first, then what changes.
	WatchCatalogue struct{}
	// WatchEvents asks for what happens in sessions.
	WatchEvents struct {
		Session string          // by name or id; empty: of every session
		Since   uint64          // events behind this one; 0: all that are kept
		Live    bool            // only what happens from now on
		Types   domain.EventSet // empty: all
	}
	// WatchPreviews asks for pictures of one session, drawn for a terminal of Size: the newest, at the most one each Interval,
	// which is LeastPreviewInterval where it is less and at most MaxPreviewInterval.
	WatchPreviews struct {
		Session  domain.SessionID
		Size     domain.Size
		Interval time.Duration // in ms
	}
)

// RequestBody is what a Request asks.
type RequestBody interface{ requestBody() }

type (
	// New makes a session; its Result has one session.
	New struct{ Create Create }
	// List asks for every session. Brief rows have no Cwd, which costs a look at each program.
	List   struct{ Brief bool }
	Kill   struct{ Session string }
	Rename struct{ Session, Name string }
	// DetachAll detaches every client of a session.
	DetachAll struct{ Session string }
	// DetachClient detaches the client of a session that has this id.
	DetachClient struct {
		Session string
		Client  uint64
	}
	// Clients asks who is attached: to a session or, with an empty name, to any.
	Clients struct{ Session string }
	// SetSize says from now on how a session's size is decided. Size counts with domain.SizeFixed only; zero is the size
	// it has.
	SetSize struct {
		Session string
		Policy  domain.SizePolicy
		Size    domain.Size
	}
	// Type gives bytes to the program as they are. Author, here and below, is who does so, as they say themselves.
	Type struct {
		Session string
		Data    []byte
		Author  string
	}
	// Keys presses named keys, encoded for the modes the program has set.
	Keys struct {
		Session string
		Names   []string
		Author  string
	}
	// Paste gives a chunk of a paste; with bracketed paste on, Begin and End add the markers.
	Paste struct {
		Session    string
		Data       []byte
		Begin, End bool
		Author     string
	}
	// Guarded is one of Type, Keys and Paste, carried out only while what it says holds, and else not at all.
	Guarded struct {
		Generation uint64 // of the session; 0: any
		AtPrompt   bool   // its shell waits for a command, and its line is empty
		Type       *Type
		Keys       *Keys
		Paste      *Paste
	}
	// RunCommand types a command at a shell's prompt. The answer says under which number its output is read.
	RunCommand struct {
		Session    string
		Command    string
		Generation uint64 // of the session; 0: any
		Author     string
	}
	// ReadRun asks for what a run's command has put out from Offset on; it waits until there is something. What comes
	// before Offset is not kept any longer.
	ReadRun struct {
		Session string
		Run     uint64
		Offset  uint64 // bytes
	}
	// Lock lets only attached clients type, or everybody again.
	Lock struct {
		Session string
		Locked  bool
		Author  string
	}
	// Capture asks for the screen and, above it, up to HistoryLines lines. It does not count as
	// looking at a session that has exited.
	Capture struct {
		Session      string
		HistoryLines int
	}
	// History asks for lines by number; at most MaxHistoryLines come at a time.
	History struct {
		Session string
		Pane    uint64
		First   uint64
		Count   int
	}
	// Search asks for the match of a regular expression (RE2) that is next to a place: the first one that begins at or
	// behind it, or with Backward the last one that begins before it. It looks at the history and the main
	// screen; rows that a soft wrap broke are one line. Without a match there it goes on, with Around, from the other
	// end to where it began.
	Search struct {
		Session  string
		Pane     uint64
		Pattern  string
		Line     uint64
		Col      int // cells, 0-based
		Backward bool
		Around   bool // a daemon that does not know it searches to the end only
	}
	// Wait waits for one condition, until the request's timeout.
	Wait struct {
		Session string
		Text    string        // regular expression on a line of the screen or newer history
		Idle    time.Duration // no output for so long
		Exit    bool
	}
	// Await waits for the first of several conditions, until the request's timeout. A daemon that does not know it answers
	// Unsupported; Wait is known to all.
	Await struct {
		Session string
		Text    string        // as of Wait, if not empty
		Idle    time.Duration // as of Wait, if not 0
		Exit    bool
		Prompt  bool // its shell waits for a command
		Changed bool // it has printed something
		Events  domain.EventSet
		States  domain.ActivitySet
		Since   uint64 // events behind this one count; 0: those from now on
	}
	Stats struct{}
)

type (
	// Attached answers Attach. InputReceived is the last input number written to the terminal: the
	// client sends all above it again, and the daemon drops what it has already.
	Attached struct {
		ID            domain.SessionID
		Name          string
		Token         Token
		InputReceived uint64
		Size          domain.Size
		ReadOnly      bool
		Created       bool
	}

	// Output turns view state Base into New (docs/protocol.md, Output). New 0 carries events
	// and acknowledgements alone.
	Output struct {
		Epoch, Base, New uint64
		Full             bool
		Echo             uint64 // last input whose effect is in this state
		InputAcked       uint64 // last input written to the terminal
		Layout           *Layout
		Panes            []PaneUpdate
		Events           []Event
		Wire             int // set when it was sent: bytes of its envelope on the way
	}

	Layout struct {
		Size   domain.Size
		Policy domain.SizePolicy // why it is of that size
		Panes  []PanePlace
	}
	PanePlace struct {
		Pane     uint64
		Col, Row int // 0-based
		Size     domain.Size
	}

	// PaneUpdate is the change of one pane: bytes for the canonical terminal.
	PaneUpdate struct {
		Pane      uint64
		Data      []byte      // valid until the receiver reads its next message
		ScreenTop uint64      // line number of the screen's first row
		FirstLine uint64      // oldest line kept
		Size      domain.Size // of the pane's screen in this state
	}

	// Event happened with or before the state it rides on. Seq counts from 1 by one; a gap
	// means that events were dropped at MaxEventsKept. A nil Body is an event of a newer peer: ignored.
	Event struct {
		Seq  uint64
		Pane uint64
		Body EventBody
	}

	// Ended closes an attachment; nothing follows. The client answers with Detach, which confirms
	// that it knows: of a program's end, the daemon keeps the session until somebody does.
	Ended struct {
		Reason  EndReason
		Exit    domain.ExitStatus // when Reason is EndExited
		Failure *Failure          // when Reason is EndFailed
	}

	// Watching answers Watch, part by part: nil where a part was not asked for, or is not known there.
	Watching struct{ Catalogue, Events, Previews *WatchAnswer }

	// WatchAnswer accepts a part, or says in Failure why not.
	WatchAnswer struct{ Failure *Failure }

	// CatalogueUpdate turns revision Base of the daemon's list of sessions into Revision, which is the next one. Base 0 is the
	// empty list that every conversation begins with. Sessions are new or have changed, Gone are listed no longer. More: another
	// part of the same update follows, and what has come counts with the last part only.
	CatalogueUpdate struct {
		Base, Revision uint64
		Sessions       []domain.SessionInfo // texts of MaxRowTextBytes, arguments of MaxRowArgs at most
		Gone           []domain.SessionID
		More           bool
	}

	// Preview is a picture: Content makes a canonical terminal of the size that was asked for, which has seen nothing, show it.
	// Sequence counts from 1. Ended: the session is gone, nothing follows, and there is no Content.
	Preview struct {
		Sequence uint64
		Content  []byte // at most MaxPreviewBytes
		Ended    bool
	}

	// WatchedEvents is what has happened, in its order; each event comes once. Last is the number up to which everything
	// that was asked for has been told, or is within a Gap: a watch with it in Since goes on from there.
	WatchedEvents struct {
		Events []domain.Event
		Gap    EventGap // before Events
		Last   uint64
	}

	// EventGap says that events may be missing whose numbers are From to To. Zero: none are.
	EventGap struct{ From, To uint64 }

	// Refused answers a first message that was not accepted; nothing follows.
	Refused struct{ Failure Failure }

	// Result answers a Request. Body is nil unless the request has an answer of its own.
	Result struct {
		ID      uint64
		Outcome Outcome
		Failure *Failure
		Body    ResultBody
	}
)

// EndReason says why an attachment is over.
type EndReason uint32

const (
	EndExited   EndReason = 1 // the program ended
	EndDetached EndReason = 2 // the client or somebody else asked
	EndTaken    EndReason = 3 // another client attached with --take
	EndKilled   EndReason = 4 // the session was killed
	EndFailed   EndReason = 6 // a failure, given
)

// EventBody is what happened.
type EventBody interface{ eventBody() }

type (
	Bell      struct{}
	Title     struct{ Text string }
	Cwd       struct{ Path string }
	Clipboard struct {
		Selection string
		Data      []byte
	}
	Notification struct{ Title, Body string }
	// ProgressEvent is a percentage, 0 to 100, or above 100: none.
	ProgressEvent struct{ Percent int }
	// PromptMark is OSC 133: Kind is 'A', 'B', 'C' or 'D', Line the line it stands on.
	PromptMark struct {
		Kind   byte
		Line   uint64
		Status int
	}
	Renamed struct{ Name string }
)

// ResultBody is what a Result carries.
type ResultBody interface{ resultBody() }

type (
	Sessions   struct{ List []domain.SessionInfo }
	ClientList struct{ List []domain.ClientInfo }
	WaitResult struct {
		Met   bool
		Match string // the line that matched
		Exit  domain.ExitStatus
	}
	Captured struct {
		Size        domain.Size
		CursorCol   int // 1-based
		CursorRow   int // 1-based
		Visible     bool
		CursorStyle string
		Alternate   bool
		Title       string
		Cwd         string
		Modes       []string
		Lines       Lines
		State       domain.SessionState
		Exit        domain.ExitStatus
	}
	// Lines are consecutive. More says that the request asked for more than one result may hold.
	Lines struct {
		First uint64
		List  []Line
		More  bool
	}
	StatsResult struct{ Stats DaemonNumbers }
	// Awaited says which condition was met: text, idle, exit, prompt, changed, event or state; and what holds of the session then.
	Awaited struct {
		Met        string
		Match      string            // the line that matched
		Exit       domain.ExitStatus // once the program has ended
		Event      *domain.Event
		Condition  domain.Condition
		Generation uint64
		Last       uint64 // number of the newest event
	}
	// RunStarted says that a command was typed.
	RunStarted struct {
		Run        uint64
		Generation uint64 // of the session, with the command typed
		Size       domain.Size
	}
	// RunOutput is a piece of a command's output, as its terminal got it. What lies between the Offset that was asked for and
	// this one was dropped.
	RunOutput struct {
		Offset    uint64
		Data      []byte
		Ended     bool // nothing follows
		HasStatus bool // with Ended: the shell told it
		Status    int
		Exited    bool // with Ended: the session's program ended, and with it the command
		Took      time.Duration
	}
	// Found says where a match begins, if there is one (Met).
	Found struct {
		Met    bool
		Line   uint64
		Col    int  // cells, 0-based
		Around bool // the search went on from the other end
	}
)

// Line is one row of history or screen.
type Line struct {
	N       uint64
	Text    string // trailing blanks cut, except of a history result's line that goes on in the next
	Wrapped bool   // goes on in the next line
	Runs    []Run  // of styles that are not the default
}

// Run is a stretch of cells of one style. Colours: 0 is the default, 1<<24|n palette entry n,
// 2<<24|rgb a direct colour.
type Run struct {
	Col, Len       int // cells, Col 1-based
	Fg, Bg         uint32
	UnderlineColor uint32
	Underline      uint8 // 0 none, 1 single, 2 double, 3 curly, 4 dotted, 5 dashed
	Attrs          RunAttrs
	Link           string
}

// RunAttrs is a set of attributes.
type RunAttrs uint32

const (
	AttrBold RunAttrs = 1 << iota
	AttrDim
	AttrItalic
	AttrBlink
	AttrInverse
	AttrHidden
	AttrStrike
	AttrOverline
)

// RunAttributes are the attributes in the order of their bits, each with its name and the SGR parameter that sets it.
var RunAttributes = [...]struct {
	Attr RunAttrs
	Name string
	SGR  int
}{
	{AttrBold, "bold", 1},
	{AttrDim, "dim", 2},
	{AttrItalic, "italic", 3},
	{AttrBlink, "blink", 5},
	{AttrInverse, "inverse", 7},
	{AttrHidden, "hidden", 8},
	{AttrStrike, "strike", 9},
	{AttrOverline, "overline", 53},
}

// DaemonNumbers is what a daemon holds and has done.
type DaemonNumbers struct {
	Pid            int           `json:"pid"`
	Version        string        `json:"version"`
	Uptime         time.Duration `json:"-"`
	UptimeMS       int64         `json:"uptime_ms"`
	Sessions       int           `json:"sessions"`
	Attachments    int           `json:"attachments"`
	Resumable      int           `json:"resumable"`
	Conversations  int           `json:"conversations"`
	HistoryBytes   uint64        `json:"history_bytes"`
	OutputBytes    uint64        `json:"output_bytes"`
	StatesSent     uint64        `json:"states_sent"`
	StateBytes     uint64        `json:"state_bytes"`
	WindowWaits    uint64        `json:"window_waits"`
	UnackedBytes   uint64        `json:"unacked_bytes"`
	InputBytes     uint64        `json:"input_bytes"`
	InputQueued    uint64        `json:"input_queued"`
	InputWaits     uint64        `json:"input_waits"`
	HeapBytes      uint64        `json:"heap_bytes"`
	Goroutines     int           `json:"goroutines"`
	ForeignRefused uint64        `json:"foreign_refused"`
}

func (*Attach) sessionClient()  {}
func (*Watch) sessionClient()   {}
func (*Request) sessionClient() {}
func (*Input) sessionClient()   {}
func (*Ack) sessionClient()     {}
func (*Resize) sessionClient()  {}
func (*Focus) sessionClient()   {}
func (*Detach) sessionClient()  {}
func (*Cancel) sessionClient()  {}

func (*Attached) sessionServer() {}
func (*Output) sessionServer()   {}
func (*Result) sessionServer()   {}
func (*Ended) sessionServer()    {}
func (*Refused) sessionServer()  {}
func (*Watching) sessionServer() {}

func (*WatchedEvents) sessionServer() {}

func (*CatalogueUpdate) sessionServer() {}
func (*Preview) sessionServer()         {}

func (*New) requestBody()          {}
func (*List) requestBody()         {}
func (*Kill) requestBody()         {}
func (*Rename) requestBody()       {}
func (*DetachAll) requestBody()    {}
func (*DetachClient) requestBody() {}
func (*Clients) requestBody()      {}
func (*SetSize) requestBody()      {}
func (*Type) requestBody()         {}
func (*Keys) requestBody()         {}
func (*Paste) requestBody()        {}
func (*Guarded) requestBody()      {}
func (*RunCommand) requestBody()   {}
func (*ReadRun) requestBody()      {}
func (*Lock) requestBody()         {}
func (*Await) requestBody()        {}
func (*Capture) requestBody()      {}
func (*History) requestBody()      {}
func (*Search) requestBody()       {}
func (*Wait) requestBody()         {}
func (*Stats) requestBody()        {}

func (Bell) eventBody()          {}
func (Title) eventBody()         {}
func (Cwd) eventBody()           {}
func (Clipboard) eventBody()     {}
func (Notification) eventBody()  {}
func (ProgressEvent) eventBody() {}
func (PromptMark) eventBody()    {}
func (Renamed) eventBody()       {}

func (*Sessions) resultBody()    {}
func (*ClientList) resultBody()  {}
func (*WaitResult) resultBody()  {}
func (*Captured) resultBody()    {}
func (*Lines) resultBody()       {}
func (*StatsResult) resultBody() {}
func (*RunStarted) resultBody()  {}
func (*RunOutput) resultBody()   {}
func (*Awaited) resultBody()     {}
func (*Found) resultBody()       {}
