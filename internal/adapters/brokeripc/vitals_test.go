package brokeripc

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/adapters/brokerwire"
	"github.com/vev-term/vev/internal/adapters/streamframe"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

// far is a pair of ends behind a link of 100 ms there and back.
func far() (*simnet.Link, *simnet.End, *simnet.End) {
	half := simnet.Conditions{Delay: 50 * time.Millisecond}
	l := simnet.NewLink(1, half, half)
	a, b := l.Connect()
	return l, a, b
}

func TestAProbeMeasuresTheRoundTrip(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		l, a, b := far()
		c, s := connect(t, a, b)
		defer part(c, s)
		require.Zero(t, c.Vitals().RTT)
		began := c.Vitals().Heard
		time.Sleep(time.Hour)
		require.Equal(t, began, c.Vitals().Heard)
		up, down := l.Bytes()
		require.NoError(t, c.Probe(t.Context()))
		v := c.Vitals()
		require.InDelta(t, 100*time.Millisecond, v.RTT, float64(time.Millisecond))
		require.Equal(t, time.Now(), v.Heard)
		up2, down2 := l.Bytes()
		require.Less(t, up2-up, int64(200), "a probe is small")
		require.Less(t, down2-down, int64(200))
		slow := simnet.Conditions{Delay: 250 * time.Millisecond}
		l.Set(slow, slow)
		require.NoError(t, c.Probe(t.Context()))
		require.InDelta(t, 200*time.Millisecond, c.Vitals().RTT, float64(time.Millisecond), "(3 x 100 + 500) / 4")
	})
}

// Whoever gives a probe up leaves it on its way; who comes next waits for the same.
func TestProbesShareAPing(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		_, a, b := far()
		c, s := connect(t, a, b)
		defer part(c, s)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		begun := time.Now()
		require.Equal(t, fault.Timeout, fault.KindOf(c.Probe(ctx)))
		done := make(chan error)
		for range 10 {
			go func() { done <- c.Probe(t.Context()) }()
		}
		for range 10 {
			require.NoError(t, <-done)
		}
		require.InDelta(t, 100*time.Millisecond, time.Since(begun), float64(time.Millisecond))
	})
}

func TestAProbeEndsWithTheLink(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, p := scriptBrokerOn(t, 1<<16)
		done := make(chan error)
		go func() { done <- c.Probe(t.Context()) }()
		require.Equal(t, uint64(1), wants[*protocol.Ping](p, "the probe").Number)
		require.NoError(t, p.rw.Close())
		require.Equal(t, fault.Unavailable, fault.KindOf(<-done))
		require.Equal(t, fault.Unavailable, fault.KindOf(c.Probe(t.Context())))
		require.NoError(t, c.Close())
	})
}

// A broker that knows no pings is probed all the same.
func TestAProbeWithoutPings(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s := connectOn(t, 1<<16)
		defer part(c, s)
		c.pings, s.pings = false, false
		require.NoError(t, c.Probe(t.Context()))
		require.NotZero(t, c.Vitals().RTT)
	})
}

func TestPingsThatBreakTheRules(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p, s := scriptOn(t, 1<<16)
		p.send(&protocol.Ping{Number: 1})
		require.Equal(t, uint64(1), wants[*protocol.Pong](p, "a ping").Number)
		p.send(&protocol.Ping{Number: 3})
		require.Equal(t, fault.Violation, wants[*protocol.Shutdown](p, "a gap").Reason.Kind)
		p.wantEnd("the broker closes")
		<-s.Done()
	})
	bubble.Test(t, func(t *testing.T) {
		p, s := scriptOn(t, 1<<16)
		s.conn.mu.Lock()
		s.pings = false
		s.conn.mu.Unlock()
		p.send(&protocol.Ping{Number: 1})
		require.Equal(t, fault.Violation, wants[*protocol.Shutdown](p, "pings were not agreed").Reason.Kind)
		p.wantEnd("the broker closes")
		<-s.Done()
	})
	bubble.Test(t, func(t *testing.T) {
		c, p := scriptBrokerOn(t, 1<<16)
		p.send(&protocol.Pong{Number: 1})
		<-c.Done()
		require.Equal(t, fault.Violation, fault.KindOf(c.Err()), "an answer to nothing")
	})
}

// A client that reads no answers to its pings loses the connection before they fill the broker's memory.
func TestPingsWithoutReadingEndTheConnection(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p, s := scriptOn(t, 1<<10)
		const pongs = maxUnsent/8 + 1<<10 // a Pong has 8 bytes and more
		for n := uint64(1); n <= pongs && s.conn.cause() == nil; n++ {
			b, err := brokerwire.AppendClient(nil, &protocol.Ping{Number: n})
			require.NoError(t, err)
			if streamframe.NewWriter(p.rw).Write(b, nil) != nil {
				break
			}
		}
		<-s.Done()
		require.Equal(t, fault.Limit, fault.KindOf(s.conn.cause()))
	})
}

// granted opens a stream and returns its client's end and the request it was granted by.
func granted(t *testing.T, c *Client, s *Server) (*Stream, ports.StreamRequest) {
	t.Helper()
	requests := make(chan ports.StreamRequest, 1)
	go func() {
		r, err := s.Accept(t.Context())
		if err == nil {
			r.Report(protocol.LinkReport{State: domain.LinkGone}) // too early
			_, err = r.Open()
		}
		if err != nil {
			t.Error(err)
		}
		requests <- r
	}()
	st, err := c.OpenStream(t.Context(), "host", protocol.ExistingOnly, nil)
	require.NoError(t, err)
	return st.(*Stream), <-requests
}

func TestTheNewestReportArrives(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		c, s := connectOn(t, 1<<16)
		defer part(c, s)
		st, r := granted(t, c, s)
		report := protocol.LinkReport{State: domain.LinkSlow, Transport: domain.TransportSSH, RTT: time.Second, Silent: 2 * time.Second}
		r.Report(report)
		got := <-st.Reports()
		require.Equal(t, st.ref(), got.Ref)
		got.Ref = report.Ref
		require.Equal(t, report, got)
		for state := range domain.LinkGone {
			r.Report(protocol.LinkReport{State: state})
			synctest.Wait()
		}
		r.Report(protocol.LinkReport{State: domain.LinkGone, Move: true})
		synctest.Wait()
		got = <-st.Reports()
		require.Equal(t, domain.LinkGone, got.State)
		require.True(t, got.Move)
		require.Empty(t, st.Reports())
		require.NoError(t, st.Close())
		r.Report(report)
		synctest.Wait()
		require.Empty(t, st.Reports(), "the stream has ended")
		require.NoError(t, c.Err())
	})
}

// A client that does not read has one report of each stream waiting, whatever happens to its links.
func TestReportsDoNotPileUp(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		p, s := scriptOn(t, 1<<10)
		p.send(&protocol.OpenStream{Ref: p.ref(1), Host: "host"})
		r, err := s.Accept(t.Context())
		require.NoError(t, err)
		_, err = r.Open()
		require.NoError(t, err)
		for n := range maxUnsent {
			r.Report(protocol.LinkReport{RTT: time.Duration(n) * time.Microsecond})
			if n%1000 == 0 {
				synctest.Wait()
			}
		}
		require.NoError(t, s.conn.cause())
		wants[*protocol.StreamOpened](p, "the stream")
		last := protocol.LinkReport{}
		for last.RTT != (maxUnsent-1)*time.Microsecond {
			last = *wants[*protocol.LinkReport](p, "the newest comes")
		}
		require.NoError(t, p.rw.Close())
		<-s.Done()
	})
}

func TestReportsThatBreakTheRules(t *testing.T) {
	for name, breach := range map[string]func(c *Client, p *scripted) *protocol.LinkReport{
		"of no stream": func(_ *Client, p *scripted) *protocol.LinkReport { return &protocol.LinkReport{Ref: p.ref(1)} },
		"of another connection": func(*Client, *scripted) *protocol.LinkReport {
			return &protocol.LinkReport{Ref: protocol.StreamRef{Scope: protocol.Scope{BrokerEpoch: 1}, ID: 1}}
		},
		"not agreed": func(c *Client, p *scripted) *protocol.LinkReport {
			c.reports = false
			return &protocol.LinkReport{Ref: p.ref(1)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				c, p := scriptBrokerOn(t, 1<<16)
				p.send(breach(c, p))
				<-c.Done()
				require.Equal(t, fault.Violation, fault.KindOf(c.Err()))
			})
		})
	}
}
