package vt

// EventKind says what an [Event] is. The set is closed.
type EventKind uint8

// The kinds of events.
const (
	// EventBell: BEL; Count bells since the last take.
	EventBell EventKind = iota + 1
	// EventTitle: the window title changed to Text. Only the newest is kept.
	EventTitle
	// EventCwd: the program said its directory (OSC 7, OSC 9;9): Text is a path or file URL as given. Only the newest
	// is kept.
	EventCwd
	// EventClipboard: a clipboard write (OSC 52): Data decoded, Text the selections as given ("c", "p", ...). Only the
	// newest for each Text is kept.
	EventClipboard
	// EventNotification: OSC 9, 777 or 99: Title (may be "") and Text, controls stripped.
	EventNotification
	// EventProgress: OSC 9;4: Progress. Only the newest is kept.
	EventProgress
	// EventPromptMark: OSC 133: Mark.
	EventPromptMark
	// EventStatus: the records of [Terminal.Statuses] changed (OSC 7501). Only the newest is kept.
	EventStatus
	// EventStringDropped: Count OSC, DCS or other strings were over their limit and were dropped whole.
	EventStringDropped
	// EventDropped: Count events were dropped, oldest first, because nobody took them.
	EventDropped
)

// Event is something the program did that is not on the screen. Fields that its kind does not name are zero.
type Event struct {
	Kind     EventKind
	Title    string
	Text     string
	Data     []byte
	Progress Progress
	Mark     PromptMark
	Count    int
}

// ProgressState is the state of an OSC 9;4 progress report.
type ProgressState uint8

// The progress states, numbered as OSC 9;4 is.
const (
	ProgressNone ProgressState = iota
	ProgressNormal
	ProgressError
	ProgressUnknown
	ProgressPaused
)

// Progress is what a program says about how far it is.
type Progress struct {
	State   ProgressState
	Percent int // 0 to 100
}

// PromptMark is a semantic mark of a shell (OSC 133).
type PromptMark struct {
	// Kind: 'A' prompt starts (also marks N, and P of a first line), 'B' command starts (also I), 'C' output starts,
	// 'D' output ended.
	Kind byte
	// Line is the number of the cursor's line, see [Terminal.ScreenTop].
	Line uint64
	// Exit is the command's status, with 'D' and HasExit.
	Exit    int
	HasExit bool
}

const (
	// maxEvents bounds the events nobody took yet; the oldest are dropped and counted.
	maxEvents = 256
	// maxEventBytes bounds their texts and payloads together in the same way; one clipboard write always fits.
	maxEventBytes = maxClipboard + 64<<10
)

// size is what the event counts against maxEventBytes.
func (e *Event) size() int { return len(e.Title) + len(e.Text) + len(e.Data) }

// replaces reports whether e makes old pointless: of some kinds only the newest is kept, of clipboard writes the newest
// to each selection.
func (e *Event) replaces(old *Event) bool {
	switch e.Kind {
	case EventTitle, EventCwd, EventProgress, EventStatus:
		return old.Kind == e.Kind
	case EventClipboard:
		return old.Kind == e.Kind && old.Text == e.Text
	}
	return false
}

// emit queues an event. Bells and dropped strings are counted, of some kinds only the newest is kept.
func (t *Terminal) emit(e Event) {
	q := &t.events
	t.work += uint64(len(q.list) + e.size())
	for i := range q.list {
		old := &q.list[i]
		if old.Kind == e.Kind && (e.Kind == EventBell || e.Kind == EventStringDropped) {
			old.Count += e.Count
			return
		}
		if e.replaces(old) {
			q.remove(i)
			break
		}
	}
	q.add(e)
}

// eventQueue holds events until they are taken.
type eventQueue struct {
	list    []Event
	bytes   int
	dropped int
}

func (q *eventQueue) remove(i int) {
	q.bytes -= q.list[i].size()
	q.list = append(q.list[:i], q.list[i+1:]...)
}

func (q *eventQueue) add(e Event) {
	q.list = append(q.list, e)
	q.bytes += e.size()
	for len(q.list) > maxEvents || q.bytes > maxEventBytes {
		q.remove(0)
		q.dropped++
	}
}

// TakeEvents returns the events since the last call and forgets them; nil when there are none. At most maxEvents
// gather: then the oldest are dropped and an EventDropped comes first.
func (t *Terminal) TakeEvents() []Event {
	q := t.events
	t.events = eventQueue{}
	if q.dropped > 0 {
		return append([]Event{{Kind: EventDropped, Count: q.dropped}}, q.list...)
	}
	return q.list
}
