package protocol

import "time"

// Limits of docs/protocol.md. What happens at each is stated there and tested in the codecs.
const (
	MaxEnvelopeBytes = 16 << 20 // any envelope: the connection is closed
	MaxControlBytes  = 1 << 20  // every envelope but Output and Result
	MaxPreambleBytes = 4 << 10
	MaxSqueezedBytes = 1 << 10 // an envelope that may be squeezed

	MinEnvelopeCeiling = 1 << 20 // smallest envelope ceiling a peer may ask for: its preamble is rejected
	MinChunkCeiling    = 1 << 10 // likewise of stream chunks

	MaxChunkBytes     = 64 << 10 // payload of one stream data frame
	StreamWindowBytes = 4 << 20  // credit of one stream, each direction
	StreamChunkCredit = 64       // added to the cost of every data frame

	MaxStreams         = 128      // live streams of a connection: refused with Limit
	MaxParkedBytes     = 64 << 20 // received and unread on a connection: it is not read until it drains
	MaxPendingOps      = 64       // operations without result on a connection: refused with Limit
	RememberedOps      = 4096     // completed operation ids kept to refuse a repeat
	MaxBrokerClients   = 64       // accept waits
	MaxSessions        = 1024     // refused with Limit
	MaxAttachments     = 64       // of a session, resumable ones included: the oldest resumable is dropped
	MaxConversations   = 1024     // of a daemon: accept waits
	MaxRequestsPerConn = 64       // running requests of one conversation: refused with Limit

	MaxOutputWindow      = 8       // states in flight
	MaxOutputWindowBytes = 2 << 20 // bytes of states in flight
	MaxEventsKept        = 256     // unacknowledged events of an attachment: oldest dropped, a gap in seq shows it
	MaxInputBytes        = 64 << 10
	InputWindowBytes     = 256 << 10 // input sent and not acknowledged, of an attachment

	MaxEnvEntries     = 256
	MaxEnvEntryBytes  = 32 << 10
	MaxArgs           = 4096
	MaxArgBytes       = 128 << 10 // all arguments together
	MaxPathBytes      = 4096
	MaxKeys           = 256 // names in one Keys request
	MaxPatternBytes   = 4 << 10
	MaxWatchedEvents  = 64         // events of one message
	MaxCommandBytes   = 16 << 10   // of a run; what is longer belongs into a file
	MaxRunBytes       = 256 << 10  // output of a command in one result
	MaxAuthorBytes    = 255        // who typed, as they say themselves
	MaxKeptLines      = 10_000_000 // history of one session; its memory has a bound of its own
	MaxHistoryLines   = 1000       // lines of one Lines result; a capture has at most as many above its screen
	MaxLineBytes      = 64 << 10   // text of one line
	MaxTextBytes      = 4 << 10    // title, directory, link or notification: the daemon cuts what a program sends
	MaxClipboardBytes = 8 << 20    // one clipboard event
	MaxKeyBytes       = 64         // name of one key
	MaxModes          = 64         // names of modes in a capture
	MaxPanes          = 64         // of one view
	MaxTokenBytes     = 16

	MaxHosts         = 64       // of a catalogue: refused with Limit
	MaxFirstBytes    = 8 << 10  // of a stream, that come with the request for it
	MaxHostBytes     = 255      // name of a host, its alias or address; name of a terminal's kind
	MaxStepBytes     = 16       // name of a step of an operation
	MaxPreviewBytes  = 64 << 10 // content of one preview
	MaxAnswerBytes   = 4 << 10  // answer to a question of ssh
	MaxPrompts       = 8        // questions of a connection that wait for their answer: further ones are declined
	MaxDeltaSessions = 1024     // session entries, and tombstones, of one delta
	MaxRowTextBytes  = 1 << 10  // title, directory and command of a session's row in a catalogue, each
	MaxRowArgs       = 64       // arguments of the command in such a row

	HandshakeTimeout = 15 * time.Second // dial to first frame, one deadline
	RequestTimeout   = 10 * time.Second // unless the request states its own
	PromptTimeout    = 2 * time.Minute  // for reaching a host whose ssh asks
	ProbeTimeout     = 5 * time.Second  // for a host to tell its list, or to show that it is there: it is stale then
	// Between two pictures of a session, at the least: on this machine, over a link to another, and what a watch may ask for.
	LeastPreviewInterval = 34 * time.Millisecond
	FarPreviewInterval   = 125 * time.Millisecond
	MaxPreviewInterval   = 10 * time.Second
	MaxWait              = 24 * time.Hour // longest timeout a request may state
)
