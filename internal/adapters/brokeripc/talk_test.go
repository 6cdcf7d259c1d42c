package brokeripc

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/adapters/streamframe"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

func TestWhatIsNotServedIsAnswered(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p, s := scriptOn(t, 1<<16)
		op := func(n byte) protocol.OperationID { return protocol.OperationID{n} }
		for kind := protocol.AddHost; kind <= protocol.UpdateHostPolicy; kind++ {
			p.send(&protocol.Mutation{Operation: op(byte(kind) + 1), Kind: kind, Host: "h"})
			r := wants[*protocol.OperationResult](p, "a mutation has exactly one result")
			require.Equal(t, op(byte(kind)+1), r.Operation)
			require.Equal(t, protocol.OutcomeFailed, r.Outcome)
			require.Equal(t, fault.Unsupported, r.Failure.Kind)
			require.NotEmpty(t, r.Failure.Hint)
		}
		p.send(&protocol.StartPreview{Operation: op(9), Host: "h"})
		e := wants[*protocol.BrokerError](p, "a preview is refused")
		require.Equal(t, op(9), e.Operation)
		require.Equal(t, fault.Unsupported, e.Failure.Kind)
		p.send(&protocol.CancelPreview{Operation: op(9)})
		require.Equal(t, op(9), wants[*protocol.BrokerError](p, "so is its end").Operation)
		for _, m := range []protocol.BrokerClientMessage{&protocol.Subscribe{}, &protocol.Resync{}, &protocol.Unsubscribe{}, &protocol.PromptReply{}} {
			p.send(m)
			require.Equal(t, fault.Unsupported, wants[*protocol.BrokerError](p, "nothing is met with silence").Failure.Kind)
		}
		p.send(&protocol.StatsRequest{Operation: op(10)})
		require.Equal(t, 42, wants[*protocol.BrokerStats](p, "stats are served").Stats.Pid)
		p.send(&protocol.StatsRequest{Operation: op(10)})
		require.Equal(t, fault.Conflict, wants[*protocol.BrokerError](p, "an operation id serves once").Failure.Kind)
		p.rw.Close()
		<-s.Done()
	})
}

func TestStreamsAreGrantedAndRefused(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s := connectOn(t, 1<<16)
		defer part(c, s)
		go func() {
			r, err := s.Accept(t.Context())
			require.NoError(t, err)
			require.Equal(t, "elsewhere", r.Host())
			require.Equal(t, protocol.ExistingOnly, r.Start())
			require.NoError(t, r.Refuse(protocol.Failure{Kind: fault.NotFound, Text: "no host", Hint: "add it"}))
		}()
		_, err := c.OpenStream(t.Context(), "elsewhere", protocol.ExistingOnly, nil)
		require.Equal(t, &fault.Error{Kind: fault.NotFound, Msg: "no host", Hint: "add it", Peer: true}, err)
		cs, ss := open(t, c, s)
		require.Equal(t, 1, s.Numbers().Streams)
		require.NoError(t, ss.Abort(protocol.Failure{Kind: fault.Conflict, Text: "broken"}))
		_, err = cs.Read(make([]byte, 1))
		require.Equal(t, fault.Conflict, fault.KindOf(err))
		_, err = cs.Write([]byte("x"))
		require.Equal(t, fault.Conflict, fault.KindOf(err))
		require.NoError(t, cs.Close())
		require.Zero(t, c.Numbers().Streams)
		require.EqualValues(t, 2, c.Numbers().StreamsTotal)
	})
}

func TestOpenIsGivenUpWithItsContext(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s := connectOn(t, 1<<16)
		defer part(c, s)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.OpenStream(ctx, "", protocol.StartIfNeeded, nil)
		require.Equal(t, fault.Timeout, fault.KindOf(err))
		synctest.Wait()
		r, err := s.Accept(t.Context())
		require.NoError(t, err)
		_, err = r.Open()
		require.Equal(t, fault.Canceled, fault.KindOf(err), "the client gave it up before it was granted")
		cs, _ := open(t, c, s)
		require.NoError(t, cs.Close())
	})
}

func TestStreamsOfAConnectionAreLimited(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s := connectOn(t, 1<<16)
		defer part(c, s)
		first, _ := open(t, c, s)
		for range protocol.MaxStreams - 1 {
			open(t, c, s)
		}
		_, err := c.OpenStream(t.Context(), "", protocol.StartIfNeeded, nil)
		require.Equal(t, fault.Limit, fault.KindOf(err))
		first.Close()
		open(t, c, s)
	})
	bubble.Test(t, func(t *testing.T) { // a client that does not count itself
		p, s := scriptOn(t, 1<<20)
		for id := protocol.StreamID(1); id <= protocol.MaxStreams+1; id++ {
			p.send(&protocol.OpenStream{Ref: p.ref(id)})
		}
		m := wants[*protocol.StreamClosed](p, "one too many is refused, the connection stays")
		require.EqualValues(t, protocol.MaxStreams+1, m.Ref.ID)
		require.Equal(t, fault.Limit, m.Failure.Kind)
		p.send(&protocol.CloseStream{Ref: p.ref(1)})
		p.send(&protocol.OpenStream{Ref: p.ref(200)})
		synctest.Wait()
		require.Equal(t, protocol.MaxStreams, s.Numbers().Streams)
		p.rw.Close()
		<-s.Done()
	})
}

func TestOrderlyCloseKeepsWhatWasReceived(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s := connectOn(t, 1<<20)
		defer part(c, s)
		cs, ss := open(t, c, s)
		for _, n := range []int{1, 100, smallFrame, smallFrame + 1, 70 << 10} {
			_, err := ss.Write(bytes.Repeat([]byte{byte(n)}, n))
			require.NoError(t, err)
		}
		require.NoError(t, ss.Close())
		synctest.Wait()
		_, err := cs.Write([]byte("x"))
		require.Equal(t, fault.Unavailable, fault.KindOf(err))
		got, err := io.ReadAll(cs)
		require.NoError(t, err)
		require.Len(t, got, 1+100+2*smallFrame+1+70<<10)
		require.Zero(t, c.Numbers().ParkedBytes)
	})
}

func TestErrorCloseDropsWhatWasReceived(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s := connectOn(t, 1<<20)
		defer part(c, s)
		cs, ss := open(t, c, s)
		_, err := ss.Write(make([]byte, 100<<10))
		require.NoError(t, err)
		time.Sleep(time.Second)
		require.NotZero(t, c.Numbers().ParkedBytes)
		require.NoError(t, ss.Abort(protocol.Failure{Kind: fault.Unavailable, Text: "gone"}))
		time.Sleep(time.Second)
		require.Zero(t, c.Numbers().ParkedBytes)
		_, err = cs.Read(make([]byte, 1))
		require.Equal(t, fault.Unavailable, fault.KindOf(err))
	})
}

func TestCloseReleasesReadAndWrite(t *testing.T) {
	for name, plain := range map[string]bool{"deadlines": false, "none": true} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				a, b := simnet.Pipe(1 << 10)
				var ca, cb io.ReadWriteCloser = a, b
				if plain {
					ca, cb = simnet.Plain(a), simnet.Plain(b)
				}
				c, s := connect(t, ca, cb)
				defer part(c, s)
				cs, _ := open(t, c, s)
				other, otherPeer := open(t, c, s)
				ended := make(chan error, 3)
				for _, st := range []io.Reader{cs, other} {
					go func() {
						_, err := io.ReadFull(st, make([]byte, 10))
						ended <- err
					}()
				}
				go func() {
					_, err := cs.Write(make([]byte, 2*protocol.StreamWindowBytes))
					ended <- err
				}()
				time.Sleep(time.Second) // the Write waits for credit, the Reads for data
				require.NoError(t, cs.Close())
				require.Equal(t, fault.Canceled, fault.KindOf(<-ended))
				require.Equal(t, fault.Canceled, fault.KindOf(<-ended))
				_, err := otherPeer.Write(make([]byte, 10))
				require.NoError(t, err)
				require.NoError(t, <-ended, "a sibling goes on")
			})
		})
	}
}

func TestStatsGiveUpAndRefuse(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, p := scriptBrokerOn(t, 1<<16)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.Stats(ctx)
		require.Equal(t, fault.Timeout, fault.KindOf(err))
		asked := wants[*protocol.StatsRequest](p, "the request was sent")
		p.send(&protocol.BrokerStats{Operation: asked.Operation}) // too late, which is no offence
		go func() {
			asked := wants[*protocol.StatsRequest](p, "another one")
			p.send(&protocol.BrokerError{Operation: asked.Operation, Failure: protocol.Failure{Kind: fault.Unsupported, Text: "no"}})
		}()
		_, err = c.Stats(t.Context())
		require.Equal(t, fault.Unsupported, fault.KindOf(err))
		go func() {
			wants[*protocol.StatsRequest](p, "a third")
			p.rw.Close()
		}()
		_, err = c.Stats(t.Context())
		require.Equal(t, fault.Unavailable, fault.KindOf(err))
		<-c.Done()
		_, err = c.Stats(t.Context())
		require.Equal(t, fault.Unavailable, fault.KindOf(err))
		_, err = c.OpenStream(t.Context(), "", protocol.StartIfNeeded, nil)
		require.Equal(t, fault.Unavailable, fault.KindOf(err))
	})
}

func TestShutdownSaysWhy(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s := connectOn(t, 1<<16)
		cs, ss := open(t, c, s)
		_, err := ss.Write([]byte("last words"))
		require.NoError(t, err)
		require.NoError(t, ss.Close())
		kept, _ := open(t, c, s)
		require.NoError(t, s.Close(protocol.Failure{Kind: fault.Unavailable, Text: "ending", Hint: "again"}))
		<-c.Done()
		require.Equal(t, &fault.Error{Kind: fault.Unavailable, Msg: "ending", Hint: "again", Peer: true}, c.Err())
		_, err = kept.Read(make([]byte, 1))
		require.Equal(t, c.Err(), err)
		got, err := io.ReadAll(cs)
		require.NoError(t, err, "what ended in order before stays")
		require.Equal(t, "last words", string(got))
		_, err = s.Accept(t.Context())
		require.Error(t, err)
	})
}

func TestCloseDeliversWhatWasWritten(t *testing.T) {
	carriages(t, func(t *testing.T, a, b io.ReadWriteCloser) {
		c, s := connect(t, a, b)
		cs, ss := open(t, c, s)
		other, _ := open(t, c, s)
		go func() {
			for range 50 {
				other.Write(make([]byte, 1000))
			}
		}()
		for range 100 {
			_, err := cs.Write([]byte("0123456789"))
			require.NoError(t, err)
		}
		cs.Close()
		c.Close()
		got, err := io.ReadAll(ss)
		require.NoError(t, err)
		require.Equal(t, strings.Repeat("0123456789", 100), string(got))
		<-s.Done()
	})
}

func TestGoodbyeDoesNotWaitForEver(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p, s := scriptOn(t, 1<<10)
		p.send(&protocol.OpenStream{Ref: p.ref(1)})
		st := accept(t, s)
		start := time.Now()
		go func() {
			_, err := st.Read(make([]byte, 1))
			require.NoError(t, err)
			_, err = st.Read(make([]byte, 1)) // pumps
			require.Equal(t, fault.Canceled, fault.KindOf(err))
			require.Equal(t, start.Add(time.Second), time.Now(), "the Read does not wait for the goodbye")
		}()
		synctest.Wait()
		p.send(&protocol.StreamData{Ref: p.ref(1), Data: []byte("x")})
		go st.Write(make([]byte, 64<<10)) // fills the carriage, which nobody reads
		time.Sleep(time.Second)
		s.Close(protocol.Failure{Kind: fault.Canceled, Text: "ending"})
		require.Equal(t, start.Add(time.Second+closeGrace), time.Now())
	})
}

// late is a carriage that leads nowhere for a while.
type late struct {
	io.ReadWriteCloser
	after   time.Duration
	onBegin func()
}

func (l *late) OnBegin(f func()) { l.onBegin = f }

func (l *late) Read(p []byte) (int, error) {
	if f := l.onBegin; f != nil {
		time.Sleep(l.after)
		l.onBegin = nil
		f()
	}
	return l.ReadWriteCloser.Read(p)
}

func TestHandshakeEnds(t *testing.T) {
	bubble.Test(t, func(t *testing.T) { // nobody answers
		a, b := simnet.Pipe(1 << 10)
		start := time.Now()
		_, err := Dial(t.Context(), a, "vev")
		require.Equal(t, fault.Timeout, fault.KindOf(err))
		require.Equal(t, protocol.HandshakeTimeout, time.Since(start))
		b.Close()
	})
	bubble.Test(t, func(t *testing.T) { // nobody answers, once it leads somewhere
		a, b := simnet.Pipe(1 << 10)
		start := time.Now()
		_, err := Dial(t.Context(), &late{ReadWriteCloser: a, after: time.Hour}, "vev")
		require.Equal(t, fault.Timeout, fault.KindOf(err))
		require.Equal(t, time.Hour+protocol.HandshakeTimeout, time.Since(start))
		b.Close()
	})
	bubble.Test(t, func(t *testing.T) { // or before that, where somebody gives up
		a, b := simnet.Pipe(1 << 10)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		_, err := Dial(ctx, &late{ReadWriteCloser: a, after: time.Hour}, "vev")
		require.Equal(t, fault.Canceled, fault.KindOf(err))
		b.Close()
	})
	bubble.Test(t, func(t *testing.T) { // the client says nothing
		a, b := simnet.Pipe(1 << 10)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := Accept(ctx, b, testBroker())
		require.Equal(t, fault.Canceled, fault.KindOf(err))
		_, err = a.Read(make([]byte, 1))
		require.Error(t, err, "the carriage is closed")
	})
	bubble.Test(t, func(t *testing.T) { // the carriage ends
		a, b := simnet.Pipe(1 << 10)
		b.Close()
		_, err := Dial(t.Context(), a, "vev")
		require.Equal(t, fault.Unavailable, fault.KindOf(err))
	})
	bubble.Test(t, func(t *testing.T) { // something else than Register
		a, b := simnet.Pipe(1 << 10)
		p := &scripted{t: t, rw: a, rd: streamframe.NewReader(a), turn: make(chan struct{}, 1)}
		go func() {
			_, err := streamframe.ClientHandshake(p.rd, a, protocol.NewHello(protocol.BrokerClient, "script"))
			require.NoError(t, err)
			p.send(&protocol.Subscribe{})
			require.Equal(t, fault.Violation, wants[*protocol.Shutdown](p, "the client learns why").Reason.Kind)
		}()
		_, err := Accept(t.Context(), b, testBroker())
		require.Equal(t, fault.Violation, fault.KindOf(err))
	})
}

// A stream's first bytes come with the request for it; to a broker that does not take them so they go once it is granted.
func TestFirstBytes(t *testing.T) {
	first := bytes.Repeat([]byte("x"), protocol.MaxFirstBytes)
	bubble.Test(t, func(t *testing.T) {
		a, b := simnet.Pipe(64 << 10)
		c, s := connect(t, a, b)
		go func() {
			r, err := s.Accept(t.Context())
			if err != nil || !bytes.Equal(first, r.First()) {
				t.Error(err, len(r.First()))
			}
			st, err := r.Open()
			if err != nil {
				t.Error(err)
			}
			_, _ = st.Write(append(bytes.Clone(r.First()), "and more"...))
			_ = st.Close()
		}()
		st, err := c.OpenStream(t.Context(), "host", protocol.ExistingOnly, first)
		require.NoError(t, err)
		got, err := io.ReadAll(st)
		require.NoError(t, err)
		require.Equal(t, string(first)+"and more", string(got))
		part(c, s)
	})
	bubble.Test(t, func(t *testing.T) {
		a, b := simnet.Pipe(64 << 10)
		c, p := scriptBroker(t, a, b) // it has agreed to nothing
		opened := make(chan error, 1)
		go func() {
			_, err := c.OpenStream(t.Context(), "host", protocol.ExistingOnly, first)
			opened <- err
		}()
		m := p.receive().(*protocol.OpenStream)
		require.Empty(t, m.First)
		p.send(&protocol.StreamOpened{Ref: m.Ref})
		require.NoError(t, <-opened)
		require.Equal(t, first, p.receive().(*protocol.StreamData).Data)
		c.Close()
		_ = b.Close()
	})
}

// As many streams as there can be begin over a carriage that is stuck: that does not end it, and each has its first bytes later.
func TestFirstBytesHaveRoom(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		a, b := simnet.Pipe(64 << 10)
		c, s := connect(t, a, b)
		a.Stall()
		first := bytes.Repeat([]byte("x"), protocol.MaxFirstBytes)
		opened := make(chan error, protocol.MaxStreams)
		for range protocol.MaxStreams {
			go func() {
				_, err := c.OpenStream(t.Context(), "host", protocol.ExistingOnly, first)
				opened <- err
			}()
		}
		synctest.Wait()
		require.NoError(t, c.Err())
		a.Resume()
		with := 0
		for range protocol.MaxStreams {
			r, err := s.Accept(t.Context())
			require.NoError(t, err)
			st, err := r.Open()
			require.NoError(t, err)
			if r.First() != nil {
				with++
				require.Equal(t, first, r.First())
				continue
			}
			got := make([]byte, len(first))
			_, err = io.ReadFull(st, got)
			require.NoError(t, err)
			require.Equal(t, first, got)
		}
		for range protocol.MaxStreams {
			require.NoError(t, <-opened)
		}
		require.Greater(t, with, 8)
		require.Less(t, with, protocol.MaxStreams)
		part(c, s)
	})
}
