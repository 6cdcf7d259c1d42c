package client

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
)

func TestAttachSaysTheTerminalsSize(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		require.Equal(t, "w", a.daemon.attaches[0].Session)
		require.Equal(t, domain.Size{Cols: 20, Rows: 5}, a.daemon.attaches[0].Size)
	})
}

func TestRefusedAttachTouchesNothing(t *testing.T) {
	attached(t, func(a *attachment) {
		a.daemon.refuse = func(int) *protocol.Failure {
			return &protocol.Failure{Kind: fault.NotFound, Text: `no session "w"`, Hint: "vev ls"}
		}
	}, func(a *attachment) {
		_, err := a.ends(0)
		require.Equal(t, fault.NotFound, fault.KindOf(err))
		require.EqualError(t, err, `no session "w"`)
		require.Empty(t, a.term.written())
		require.NotContains(t, a.term.calls, "raw")
		require.Equal(t, 1, a.daemon.dialed())
	})
}

func TestFirstDialFailureIsTheError(t *testing.T) {
	attached(t, func(a *attachment) {
		a.daemon.dialErr = func(int) error { return fault.New(fault.Unavailable, "no way there") }
	}, func(a *attachment) {
		_, err := a.ends(0)
		require.EqualError(t, err, "no way there")
		require.Empty(t, a.term.written())
		require.Equal(t, 1, a.daemon.dialed())
	})
}

func TestSilentDaemonHasADeadline(t *testing.T) {
	attached(t, func(a *attachment) { a.daemon.silent = true }, func(a *attachment) {
		_, err := a.ends(protocol.HandshakeTimeout + time.Second)
		require.Equal(t, fault.Timeout, fault.KindOf(err))
		require.Empty(t, a.term.written())
	})
}

func TestEnds(t *testing.T) {
	for _, ended := range []protocol.Ended{
		{Reason: protocol.EndExited, Exit: domain.ExitStatus{Code: 3}},
		{Reason: protocol.EndTaken},
		{Reason: protocol.EndKilled},
		{Reason: protocol.EndDetached},
	} {
		attached(t, nil, func(a *attachment) {
			a.daemon.says(&ended)
			r, err := a.ends(0)
			require.NoError(t, err)
			require.Equal(t, Result{ID: domain.SessionID{1}, Name: "w", Reason: ended.Reason, Exit: ended.Exit}, r)
			require.Equal(t, []protocol.SessionClientMessage{&protocol.Detach{}}, a.daemon.got, "confirmed once")
		})
	}
}

func TestEndIsNotHeldUpByItsConfirmation(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		a.daemon.set(func() { a.daemon.deaf = true })
		for range 4 * directMessages {
			a.types(strings.Repeat("y", 500))
		}
		a.daemon.says(&protocol.Ended{Reason: protocol.EndExited})
		r, err := a.ends(byeGrace)
		require.NoError(t, err)
		require.Equal(t, protocol.EndExited, r.Reason)
	})
}

func TestEndWithFailure(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		a.daemon.says(&protocol.Ended{Reason: protocol.EndFailed, Failure: failure(fault.Limit, "too much")})
		r, err := a.ends(0)
		require.Equal(t, protocol.EndFailed, r.Reason)
		require.Equal(t, fault.Limit, fault.KindOf(err))
	})
	attached(t, nil, func(a *attachment) {
		a.daemon.says(&protocol.Ended{Reason: protocol.EndFailed})
		_, err := a.ends(0)
		require.Error(t, err)
	})
}

func TestDetachTellsTheDaemonAfterWhatWasTyped(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		a.types("ls\r" + lead + "dignored")
		r, err := a.ends(0)
		require.NoError(t, err)
		require.Equal(t, protocol.EndDetached, r.Reason)
		require.Equal(t, "ls\r", a.daemon.typed())
		require.Equal(t, []protocol.SessionClientMessage{&protocol.Detach{}, &protocol.Detach{}}, a.daemon.got, "the end is asked for and confirmed")
	})
}

func TestProgramThatEndsWhileDetachingIsNotLost(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		a.daemon.set(func() { a.daemon.deaf = true })
		a.types("x" + lead + "d")
		time.Sleep(byeGrace / 2)
		a.daemon.says(&protocol.Ended{Reason: protocol.EndExited, Exit: domain.ExitStatus{Code: 7}})
		r, err := a.ends(0)
		require.NoError(t, err)
		require.Equal(t, protocol.EndExited, r.Reason)
		require.Equal(t, 7, r.Exit.Code)
	})
}

func TestTheEndOfTheTerminal(t *testing.T) {
	for _, e := range []ports.TerminalEvent{ports.TerminalHungUp, ports.TerminalTerminate} {
		attached(t, nil, func(a *attachment) {
			a.term.events <- e
			_, err := a.ends(0)
			require.Equal(t, fault.Canceled, fault.KindOf(err), e)
			require.Equal(t, []protocol.SessionClientMessage{&protocol.Detach{}, &protocol.Detach{}}, a.daemon.got, "no attachment is left behind")
		})
	}
	attached(t, nil, func(a *attachment) {
		a.term.mu.Lock()
		a.term.closed = true // the device is gone: reads and writes fail
		a.term.changed.Broadcast()
		a.term.mu.Unlock()
		_, err := a.ends(time.Second)
		require.Equal(t, fault.Unavailable, fault.KindOf(err))
		require.Equal(t, []protocol.SessionClientMessage{&protocol.Detach{}, &protocol.Detach{}}, a.daemon.got)
		a.term.vt.Write([]byte("\x1b[?1049l\x1b[?2004l")) // check looks for them; nothing can be written to such a terminal
	})
}

func TestTerminalThatCannotBeRaw(t *testing.T) {
	attached(t, func(a *attachment) { a.term.rawErr = io.ErrUnexpectedEOF }, func(a *attachment) {
		_, err := a.ends(0)
		require.Equal(t, fault.Unavailable, fault.KindOf(err))
		require.Empty(t, a.term.written())
		require.Equal(t, []protocol.SessionClientMessage{&protocol.Detach{}}, a.daemon.got)
	})
}

func TestFullStateForgetsWhatWasThere(t *testing.T) {
	var v view
	size := domain.Size{Cols: 10, Rows: 2}
	for epoch, text := range []string{"first\x1b[?25l\x1b[1m", "2"} {
		require.NoError(t, v.apply(&protocol.Output{
			Epoch: uint64(epoch), New: 1, Full: true, Panes: []protocol.PaneUpdate{{Pane: 1, Size: size, Data: []byte(text)}},
		}))
	}
	fresh := vt.New(vt.Options{Cols: 10, Rows: 2})
	fresh.Write([]byte("2"))
	require.Equal(t, screenText(fresh), screenText(v.term))
	require.Equal(t, fresh.Cursor(), v.term.Cursor())
}

func TestTerminateWhileDialing(t *testing.T) {
	attached(t, func(a *attachment) { a.daemon.silent = true }, func(a *attachment) {
		a.term.events <- ports.TerminalTerminate
		_, err := a.ends(0)
		require.Equal(t, fault.Canceled, fault.KindOf(err))
		require.Empty(t, a.term.written())
	})
}

func TestContextEndsTheAttachment(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		a.cancel()
		_, err := a.ends(0)
		require.Equal(t, fault.Canceled, fault.KindOf(err))
	})
}

func TestTerminateWithAStuckTerminal(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		a.term.setStuck(true)
		a.daemon.prints("x")
		synctest.Wait()
		a.term.events <- ports.TerminalTerminate
		_, err := a.ends(leaveGrace + byeGrace + time.Second)
		require.Equal(t, fault.Canceled, fault.KindOf(err))
		require.Contains(t, a.term.calls, "restore")
		a.term.vt.Write([]byte("\x1b[?1049l\x1b[?2004l")) // check looks for them; nothing can be written to such a terminal
	})
}

func TestDetachWithAStuckTerminal(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		a.term.setStuck(true)
		a.daemon.prints("x")
		a.types(lead)
		a.types("d")
		r, err := a.ends(leaveGrace + byeGrace)
		require.NoError(t, err)
		require.Equal(t, protocol.EndDetached, r.Reason)
		a.term.vt.Write([]byte("\x1b[?1049l\x1b[?2004l"))
	})
}

func TestPanicRestoresTheTerminal(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		a.term.mu.Lock()
		a.term.onWrite = func([]byte) { a.term.onWrite = nil; panic("boom") }
		a.term.mu.Unlock()
		a.daemon.prints("x")
		_, err := a.ends(time.Second)
		require.Equal(t, fault.Internal, fault.KindOf(err))
		require.ErrorContains(t, errors.Unwrap(err), "boom")
		require.True(t, a.term.left())
	})
}

func TestReconnectResumes(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		a.daemon.happens(protocol.Bell{})
		synctest.Wait()
		a.types("ab")
		a.daemon.cut(false)
		synctest.Wait()
		require.Equal(t, 2, a.daemon.dialed(), "at once")
		require.Equal(t, &protocol.Resume{Token: protocol.Token{7}, EventSeq: 1}, a.daemon.attaches[1].Resume)
		a.types("cd")
		require.Equal(t, "abcd", a.daemon.typed())
		require.Equal(t, 1, strings.Count(a.term.written(), "\a"))
	})
}

func TestReconnectBacksOff(t *testing.T) {
	attached(t, func(a *attachment) {
		a.daemon.dialErr = func(n int) error {
			if n > 1 && n < 12 {
				return fault.New(fault.Unavailable, "down")
			}
			return nil
		}
	}, func(a *attachment) {
		time.Sleep(time.Second)
		start := time.Now()
		a.daemon.cut(true)
		synctest.Wait()
		require.Equal(t, 2, a.daemon.dialed(), "the first attempt is made at once")
		a.types("held")
		last := 2
		for time.Since(start) < 10*time.Second {
			time.Sleep(5 * time.Millisecond)
			synctest.Wait()
			require.LessOrEqual(t, a.daemon.dialed(), last+1)
			last = a.daemon.dialed()
		}
		require.Equal(t, 12, a.daemon.dialed())
		require.Equal(t, "held", a.daemon.typed())

		a.daemon.cut(true)
		synctest.Wait()
		require.Equal(t, 13, a.daemon.dialed(), "a conversation that lasted begins anew")
	})
}

func TestReconnectWithoutEndDoesNotSpin(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		for range 50 {
			a.daemon.cut(true)
			synctest.Wait()
		}
		require.LessOrEqual(t, a.daemon.dialed(), 2)
		start := time.Now()
		for time.Since(start) < 10*time.Second {
			a.daemon.cut(true)
			time.Sleep(time.Millisecond)
		}
		require.Less(t, a.daemon.dialed(), 30)
	})
}

func TestLostDaemonIsSaid(t *testing.T) {
	attached(t, func(a *attachment) {
		a.daemon.refuse = func(n int) *protocol.Failure {
			if n > 1 {
				return failure(fault.NotFound, "the attachment is not known here")
			}
			return nil
		}
	}, func(a *attachment) {
		a.daemon.cut(true)
		r, err := a.ends(time.Second)
		require.Equal(t, "w", r.Name)
		require.Equal(t, fault.NotFound, fault.KindOf(err))
		f, ok := errors.AsType[*fault.Error](err)
		require.True(t, ok)
		require.Equal(t, "the session has ended", f.Error(), "one line")
		require.NotEmpty(t, f.Hint)
		require.True(t, a.term.left())
	})
}

// Who carries an attachment may end it for good, as where its host was taken off the list.
func TestTheAttachmentIsEndedOnItsWay(t *testing.T) {
	why := &fault.Error{Kind: fault.Conflict, Msg: "host desk was removed", Peer: true}
	attached(t, nil, func(a *attachment) {
		a.daemon.conn.why = why
		a.daemon.cut(true)
		_, err := a.ends(time.Second)
		require.Equal(t, error(why), err)
		require.Len(t, a.daemon.attaches, 1)
		require.True(t, a.term.left())
	})
}

func TestRefusalsWhileReconnecting(t *testing.T) {
	for kind, ends := range map[fault.Kind]bool{
		fault.Unavailable: false, fault.Limit: false, fault.Timeout: false, fault.Internal: false,
		fault.Denied: true, fault.Incompatible: true, fault.Unsupported: true, fault.Conflict: true,
	} {
		attached(t, func(a *attachment) {
			a.daemon.refuse = func(n int) *protocol.Failure {
				if n == 2 {
					return failure(kind, "no")
				}
				return nil
			}
		}, func(a *attachment) {
			a.daemon.cut(true)
			time.Sleep(5 * time.Second)
			synctest.Wait()
			select {
			case <-a.done:
				require.True(t, ends, kind)
				require.Equal(t, kind, fault.KindOf(a.err))
			default:
				require.False(t, ends, kind)
				require.Len(t, a.daemon.attaches, 3)
			}
		})
	}
}

func TestDetachWhileDisconnected(t *testing.T) {
	attached(t, func(a *attachment) {
		a.daemon.dialErr = func(n int) error {
			if n > 1 {
				return fault.New(fault.Unavailable, "down")
			}
			return nil
		}
	}, func(a *attachment) {
		a.daemon.cut(true)
		time.Sleep(time.Minute)
		a.types("held" + lead + "d")
		r, err := a.ends(0)
		require.NoError(t, err)
		require.Equal(t, protocol.EndDetached, r.Reason)
	})
	attached(t, nil, func(a *attachment) {
		a.daemon.set(func() { a.daemon.silent = true })
		a.daemon.cut(true)
		time.Sleep(time.Second) // an attach that is not answered
		a.types(lead + "d")
		r, err := a.ends(0)
		require.NoError(t, err)
		require.Equal(t, protocol.EndDetached, r.Reason)
	})
}

func TestBrokenChainIsMendedByReconnecting(t *testing.T) {
	size := domain.Size{Cols: 20, Rows: 5}
	pane := []protocol.PaneUpdate{{Pane: 3, Size: size, Data: []byte("bad")}}
	for name, out := range map[string]*protocol.Output{
		"another base":        {Epoch: 1, Base: 5, New: 6, Panes: pane},
		"a gap":               {Epoch: 1, Base: 1, New: 3, Panes: pane},
		"another epoch":       {Epoch: 2, Base: 1, New: 2, Panes: pane},
		"full with a base":    {Epoch: 1, Base: 1, New: 2, Full: true, Panes: pane},
		"full without a pane": {Epoch: 2, New: 1, Full: true},
		"an unknown pane":     {Epoch: 1, Base: 1, New: 2, Panes: []protocol.PaneUpdate{{Pane: 4, Size: size}}},
		"two panes":           {Epoch: 1, Base: 1, New: 2, Panes: append(pane, pane...)},
		"an impossible size":  {Epoch: 1, Base: 1, New: 2, Panes: []protocol.PaneUpdate{{Pane: 3, Size: domain.Size{Cols: 1, Rows: domain.MaxRows + 1}}}},
		"content, no number":  {Epoch: 1, Panes: pane},
		"input never sent":    {Epoch: 1, InputAcked: 9},
	} {
		attached(t, nil, func(a *attachment) {
			a.daemon.says(out)
			synctest.Wait()
			require.Len(t, a.daemon.attaches, 2, name)
			require.NotNil(t, a.daemon.attaches[1].Resume, name)
			a.daemon.prints("good")
			synctest.Wait()
			require.Contains(t, a.term.text(), "good", name)
			require.NotContains(t, a.term.text(), "bad", name)
			require.Equal(t, protocol.Ack{Epoch: 2, State: 2}, a.acknowledged(), name)
		})
	}
}

func TestPeerThatAlwaysBreaksTheProtocolIsLeft(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		for range maxViolations {
			a.daemon.says(&protocol.Output{New: 9, Base: 8})
			time.Sleep(steadyAfter / 2)
		}
		_, err := a.ends(time.Second)
		require.Equal(t, fault.Violation, fault.KindOf(err))
	})
	attached(t, nil, func(a *attachment) {
		for range 3 * maxViolations {
			a.daemon.says(&protocol.Output{New: 9, Base: 8})
			time.Sleep(2 * lastBackoff)
		}
		a.types("x")
		require.Equal(t, "x", a.daemon.typed())
	})
}

func TestDaemonThatForgotInputIsAViolation(t *testing.T) {
	for name, written := range map[string]uint64{"less": 0, "more": 9} {
		attached(t, nil, func(a *attachment) {
			a.types("a")
			a.types("b")
			a.daemon.set(func() { a.daemon.written = written })
			a.daemon.cut(true)
			_, err := a.ends(10 * time.Second)
			require.Equal(t, fault.Violation, fault.KindOf(err), name)
		})
	}
}

func TestLeaderMustBeAControlKey(t *testing.T) {
	for _, b := range []byte{esc, ' ', 'a', 0x80} {
		term := newFakeTerminal(20, 5)
		_, err := Run(t.Context(), Options{Terminal: term, Leader: b})
		require.Equal(t, fault.Usage, fault.KindOf(err))
		require.True(t, term.closed)
	}
}

func TestLeaderIsCtrlBackslashUnlessToldOtherwise(t *testing.T) {
	for leader, key := range map[byte]string{0: lead, 1: "\x01"} {
		bubble.Test(t, func(t *testing.T) {
			term, d := newFakeTerminal(20, 5), newFakeDaemon(20, 5)
			go term.enter(key + "d")
			r, err := Run(t.Context(), Options{Terminal: term, Dialer: d, Leader: leader})
			require.NoError(t, err)
			require.Equal(t, protocol.EndDetached, r.Reason)
			d.conn.Close()
			d.wg.Wait()
		})
	}
}

func TestWhatEndedUnseenStaysReadable(t *testing.T) {
	for _, c := range []struct {
		why, prints string
		after       time.Duration
		want        string
	}{
		{"it ended at once", "\x1b[1mlast\x1b[m\r\n\r\nwords\r\n", 0, "last\n\nwords"},
		{"the user could look", "last words", unseen, ""},
		{"a full-screen program's picture", "\x1b[?1049hpicture", 0, ""},
	} {
		attached(t, nil, func(a *attachment) {
			a.daemon.prints(c.prints)
			synctest.Wait()
			time.Sleep(c.after)
			a.daemon.says(&protocol.Ended{Reason: protocol.EndExited})
			_, err := a.ends(0)
			require.NoError(t, err)
			require.Equal(t, c.want, strings.TrimRight(a.term.text(), "\n "), c.why)
		})
	}
}

// A state is left for what comes right behind it; when that brings no state, the state is painted all the same.
func TestAStateBeforeAnAnswerIsPainted(t *testing.T) {
	attached(t, nil, func(a *attachment) {
		synctest.Wait()
		a.daemon.set(func() {
			a.daemon.term.Write([]byte("seen"))
			a.daemon.draw(a.daemon.conn)
			a.daemon.post(a.daemon.conn, &protocol.Result{ID: 1})
		})
		synctest.Wait()
		require.Contains(t, a.term.text(), "seen")
		require.Equal(t, a.daemon.state, a.acknowledged().State)
	})
}

// saying is a dialer that says the attach itself.
type saying struct {
	*fakeDaemon
	takes time.Duration
	said  int
}

func (s *saying) DialSaying(ctx context.Context, first protocol.SessionClientMessage) (ports.SessionClientConn, error) {
	time.Sleep(s.takes)
	conn, err := s.Dial(ctx)
	if err == nil {
		s.said++
		err = conn.Send(first)
	}
	return conn, err
}

// Over a link the attach goes with what opens the conversation, and both together are its round trip, unless that was no answer
// over a link that was there.
func TestAttachIsSaidWithTheDial(t *testing.T) {
	for takes, known := range map[time.Duration]bool{longestDial - 1: true, longestDial: false} {
		var s *saying
		attached(t, func(a *attachment) {
			s = &saying{fakeDaemon: a.daemon, takes: takes}
			a.opts.Dialer, a.opts.Far = s, true
		}, func(a *attachment) {
			time.Sleep(takes)
			synctest.Wait()
			require.Len(t, a.daemon.attaches, 1)
			require.Equal(t, 1, s.said)
			rtt, is := a.client.link.contact.rtt()
			require.Equal(t, known, is)
			if known {
				require.Equal(t, takes, rtt)
			}
			a.daemon.cut(true)
			time.Sleep(2 * takes)
			synctest.Wait()
			require.Len(t, a.daemon.attaches, 2)
			require.Equal(t, 2, s.said)
		})
	}
}
