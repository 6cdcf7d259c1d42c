package brokerwire

import (
	"math"
	"time"

	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// The messages of broker.proto, each described once for both directions; the fields' limits
// stand beside them.

func visitScope(f *wirefmt.Fields, s *protocol.Scope) {
	wirefmt.Fix64(f, 1, &s.BrokerEpoch)
	id(f, 2, "connection id", &s.Connection)
}

func visitRef(f *wirefmt.Fields, r *protocol.StreamRef) {
	wirefmt.Message(f, 1, true, &r.Scope, visitScope)
	wirefmt.Uint64(f, 2, &r.ID)
	switch {
	case f.Missed(1):
		f.Refuse(mistake("it has no scope"))
	case f.Ending() && r.ID == 0:
		f.Refuse(mistake("stream id 0; the first is 1"))
	}
}

// ref is field 1 of every message about a stream.
func ref(f *wirefmt.Fields, r *protocol.StreamRef) {
	wirefmt.Message(f, 1, true, r, visitRef)
	if f.Missed(1) {
		f.Refuse(mistake("it names no stream"))
	}
}

// visitFailure takes an unknown code for Internal: nobody here can act on it.
func visitFailure(f *wirefmt.Fields, m *protocol.Failure) {
	code := uint32(m.Kind)
	if wirefmt.Uint32(f, 1, &code) {
		m.Kind = fault.Internal
		if code <= 0xff && fault.Kind(code).Valid() {
			m.Kind = fault.Kind(code)
		}
	}
	cleanText(f, 2, "failure text", &m.Text)
	cleanText(f, 3, "failure hint", &m.Hint)
}

func needFailure(f *wirefmt.Fields, m *protocol.Failure) {
	wirefmt.Message(f, 1, true, m, visitFailure)
	if f.Missed(1) {
		f.Refuse(mistake("it has no failure"))
	}
}

func visitRegister(f *wirefmt.Fields, m *protocol.Register) {
	cleanText(f, 1, "client", &m.Client)
	wirefmt.Optional(f, 2, &m.Open, visitOpening)
}

func visitOpening(f *wirefmt.Fields, m *protocol.Opening) {
	visitWish(f, 1, &m.Host, &m.Start, &m.First, &m.Public)
}

// visitWish is what is asked of a stream, in four fields from at on.
func visitWish(f *wirefmt.Fields, at Tag, host *string, start *protocol.StartPolicy, first *[]byte, public *bool) {
	boundText(f, at, "host", host, protocol.MaxHostBytes)
	choice(f, at+1, "start policy", start, protocol.ExistingOnly)
	boundData(f, at+2, "first", first, protocol.MaxFirstBytes)
	wirefmt.Bool(f, at+3, public)
}

func visitRegistered(f *wirefmt.Fields, m *protocol.Registered) {
	wirefmt.Message(f, 1, true, &m.Scope, visitScope)
	if f.Missed(1) {
		f.Refuse(mistake("it has no scope"))
	}
}

func visitOpenStream(f *wirefmt.Fields, m *protocol.OpenStream) {
	ref(f, &m.Ref)
	visitWish(f, 2, &m.Host, &m.Start, &m.First, &m.Public)
}

func visitStreamOpened(f *wirefmt.Fields, m *protocol.StreamOpened) {
	ref(f, &m.Ref)
	wirefmt.Bool(f, 2, &m.Direct)
}

func visitStreamData(f *wirefmt.Fields, m *protocol.StreamData) {
	ref(f, &m.Ref)
	boundData(f, 2, "data", &m.Data, math.MaxInt) // the envelope bounds it
}

func visitWindowUpdate(f *wirefmt.Fields, m *protocol.StreamWindowUpdate) {
	ref(f, &m.Ref)
	wirefmt.Uint32(f, 2, &m.Credit)
}

func visitCloseStream(f *wirefmt.Fields, m *protocol.CloseStream) {
	ref(f, &m.Ref)
	wirefmt.Optional(f, 2, &m.Failure, visitFailure)
}

func visitStreamClosed(f *wirefmt.Fields, m *protocol.StreamClosed) {
	ref(f, &m.Ref)
	wirefmt.Optional(f, 2, &m.Failure, visitFailure)
}

func visitBrokerError(f *wirefmt.Fields, m *protocol.BrokerError) {
	needFailure(f, &m.Failure)
	optionalID(f, 2, "operation id", &m.Operation)
}

func visitShutdown(f *wirefmt.Fields, m *protocol.Shutdown) { needFailure(f, &m.Reason) }

func visitStatsRequest(f *wirefmt.Fields, m *protocol.StatsRequest) {
	id(f, 1, "operation id", &m.Operation)
}

func visitStats(f *wirefmt.Fields, m *protocol.BrokerStats) {
	s := &m.Stats
	id(f, 1, "operation id", &m.Operation)
	small(f, 2, &s.Pid)
	cleanText(f, 3, "version", &s.Version)
	uptime(f, 4, s)
	small(f, 5, &s.Clients)
	small(f, 6, &s.Streams)
	wirefmt.Uint64(f, 7, &s.StreamsTotal)
	wirefmt.Uint64(f, 8, &s.ParkedBytes)
	wirefmt.Uint64(f, 9, &s.CreditOwedBytes)
	wirefmt.Uint64(f, 10, &s.BytesIn)
	wirefmt.Uint64(f, 11, &s.BytesOut)
	wirefmt.Uint64(f, 12, &s.FramesIn)
	wirefmt.Uint64(f, 13, &s.FramesOut)
	wirefmt.Uint64(f, 14, &s.CreditWaits)
	wirefmt.Uint64(f, 15, &s.FlowErrors)
	wirefmt.Uint64(f, 16, &s.ForeignRefused)
	wirefmt.Uint64(f, 17, &s.HeapBytes)
	small(f, 18, &s.Goroutines)
}

func visitPing(f *wirefmt.Fields, m *protocol.Ping) { number(f, &m.Number) }
func visitPong(f *wirefmt.Fields, m *protocol.Pong) { number(f, &m.Number) }

// number is that of a ping.
func number(f *wirefmt.Fields, n *uint64) {
	wirefmt.Uint64(f, 1, n)
	if f.Ending() && *n == 0 {
		f.Refuse(mistake("ping 0; the first is 1"))
	}
}

// visitLinkReport takes any state and transport: they are for people.
func visitLinkReport(f *wirefmt.Fields, m *protocol.LinkReport) {
	ref(f, &m.Ref)
	wirefmt.Uint32(f, 2, &m.State)
	wirefmt.Uint32(f, 3, &m.Transport)
	span(f, 4, time.Microsecond, &m.RTT)
	span(f, 5, time.Millisecond, &m.Silent)
	wirefmt.Bool(f, 6, &m.Move)
}

// span is a time in whole units, bounded to what a time.Duration holds when it is read.
func span(f *wirefmt.Fields, num Tag, unit time.Duration, d *time.Duration) {
	n := uint64(max(*d, 0) / unit)
	if wirefmt.Uint64(f, num, &n) {
		*d = time.Duration(min(n, uint64(math.MaxInt64/unit))) * unit
	}
}

// uptime bounds what it reads to what a time.Duration holds.
func uptime(f *wirefmt.Fields, num Tag, s *protocol.BrokerNumbers) {
	ms := uint64(max(s.UptimeMS, 0))
	if wirefmt.Uint64(f, num, &ms) {
		s.UptimeMS = int64(min(ms, math.MaxInt64/uint64(time.Millisecond)))
		s.Uptime = time.Duration(s.UptimeMS) * time.Millisecond
	}
}

func visitAddHost(f *wirefmt.Fields, m *protocol.Mutation) {
	visitHost(f, m)
	boundText(f, 3, "alias", &m.Alias, protocol.MaxHostBytes)
	wirefmt.Uint32(f, 4, &m.Transport)
	wirefmt.Bool(f, 5, &m.Install)
	wirefmt.Uint32(f, 6, &m.Start)
	boundRaw(f, 7, "program", &m.Program, protocol.MaxPathBytes)
}

func visitReconcile(f *wirefmt.Fields, m *protocol.Mutation) {
	visitHost(f, m)
	wirefmt.Bool(f, 3, &m.Install)
	boundRaw(f, 4, "program", &m.Program, protocol.MaxPathBytes)
}

// visitHost is all of RemoveHost, and what the other mutations begin with.
func visitHost(f *wirefmt.Fields, m *protocol.Mutation) {
	id(f, 1, "operation id", &m.Operation)
	boundText(f, 2, "host", &m.Host, protocol.MaxHostBytes)
}

func visitHostPolicy(f *wirefmt.Fields, m *protocol.Mutation) {
	visitHost(f, m)
	wirefmt.Uint32(f, 3, &m.Transport)
	wirefmt.Uint32(f, 4, &m.Start)
}

func visitOperationResult(f *wirefmt.Fields, m *protocol.OperationResult) {
	id(f, 1, "operation id", &m.Operation)
	choice(f, 2, "outcome", &m.Outcome, protocol.OutcomeUnknown)
	wirefmt.Optional(f, 3, &m.Failure, visitFailure)
}

func visitProgress(f *wirefmt.Fields, m *protocol.Progress) {
	id(f, 1, "operation id", &m.Operation)
	cleanText(f, 2, "progress text", &m.Text)
	boundText(f, 3, "step", &m.Step, protocol.MaxStepBytes)
	took(f, 4, &m.Took)
	wirefmt.Optional(f, 5, &m.Failure, visitFailure)
}

// took is a time in whole microseconds; what a time.Duration does not hold is cut.
func took(f *wirefmt.Fields, num Tag, d *time.Duration) {
	us := uint64(max(d.Microseconds(), 0))
	if wirefmt.Uint64(f, num, &us) {
		*d = time.Duration(min(us, math.MaxInt64/uint64(time.Microsecond))) * time.Microsecond
	}
}

func visitStartPreview(f *wirefmt.Fields, m *protocol.StartPreview) {
	id(f, 1, "operation id", &m.Operation)
	boundText(f, 2, "host", &m.Host, protocol.MaxHostBytes)
	id(f, 3, "session id", &m.Session)
	wirefmt.Uint32(f, 4, &m.Cols)
	wirefmt.Uint32(f, 5, &m.Rows)
}

func visitCancelPreview(f *wirefmt.Fields, m *protocol.CancelPreview) {
	id(f, 1, "operation id", &m.Operation)
}

func visitPreview(f *wirefmt.Fields, m *protocol.PreviewPublication) {
	id(f, 1, "operation id", &m.Operation)
	wirefmt.Uint64(f, 2, &m.Sequence)
	boundData(f, 3, "preview", &m.Content, protocol.MaxPreviewBytes)
}

func visitPrompt(f *wirefmt.Fields, m *protocol.Prompt) {
	id(f, 1, "prompt id", &m.Prompt)
	boundText(f, 2, "host", &m.Host, protocol.MaxHostBytes)
	cleanText(f, 3, "question", &m.Text)
	wirefmt.Bool(f, 4, &m.Echo)
}

func visitPromptReply(f *wirefmt.Fields, m *protocol.PromptReply) {
	id(f, 1, "prompt id", &m.Prompt)
	boundData(f, 2, "answer", &m.Answer, protocol.MaxAnswerBytes)
	wirefmt.Bool(f, 3, &m.Cancel)
}
