package daemon

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

func TestFirstChangeGoesAtOnceAndABurstIsPaced(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		v := w.attach(protocol.Attach{Session: "a"})
		v.settle()
		start := time.Now()
		p.print("x")
		require.True(t, v.step(time.Second))
		require.Zero(t, time.Since(start), "quiet before: at once")
		before := v.states
		done := time.After(time.Second)
		for i := 0; ; i++ {
			select {
			case <-done:
				require.LessOrEqual(t, v.states-before, 121+burstStates, "at most 120 states a second, and the start of the burst")
				require.Greater(t, v.states-before, 100)
				v.p.Close()
				return
			default:
			}
			p.print(fmt.Sprint(i, " "))
			v.step(time.Millisecond)
		}
	})
}

// Of the sender and the goroutine that reads an echo, one at a time makes a state, and what the other came for is not lost.
func TestAnEchoAndTheSenderTakeTurns(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		v := w.attach(protocol.Attach{Session: "a"})
		v.settle()
		v.quiet = true // an acknowledgement would have the sender look
		s, err := w.d.find("a")
		require.NoError(t, err)
		first, on := true, make(chan struct{})
		v.p.gate = func() {
			if first {
				first = false
				<-on
			}
		}
		v.typeIn("k")
		synctest.Wait()
		p.print("e")               // the reader has a state in hand
		time.Sleep(answerInterval) // the next state is due
		s.mu.Lock()
		_, _ = s.term.Write([]byte("f"))
		s.changed() // the sender looks
		s.mu.Unlock()
		synctest.Wait()
		require.Empty(t, v.p.toClient)
		close(on)
		require.True(t, v.step(ackDelay/2))
		require.True(t, v.step(ackDelay/2), "it looks again when the other is done")
		require.Equal(t, "ef", screen(v.term))
		v.quiet = false
		v.settle()

		first, on = true, make(chan struct{})
		p.print("g") // the sender has one: nobody has typed
		synctest.Wait()
		time.Sleep(frameInterval)
		v.typeIn("k")
		synctest.Wait()
		p.print("h")
		synctest.Wait()
		require.Empty(t, v.p.toClient)
		close(on)
		v.settle() // which looks for gaps in the chain
		require.Equal(t, "efgh", screen(v.term))
		v.p.Close()
	})
}

// An echo that could not be sent is over: the sender goes on, or hears what is wrong.
func TestTheSenderGoesOnBehindAnEchoThatWasNotSent(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		v := w.attach(protocol.Attach{Session: "a"})
		v.settle()
		v.typeIn("k")
		synctest.Wait()
		v.p.lost = io.ErrShortWrite
		p.print("e")
		synctest.Wait()
		v.p.lost = nil
		p.print("f")
		select {
		case m := <-v.p.toClient:
			require.IsType(t, &protocol.Output{}, m)
		case <-time.After(time.Second):
			t.Error("nothing comes any more")
		}
		v.p.Close()
	})
}

func TestTheWindowHoldsAndTheNewestStateFollows(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		v := w.attach(protocol.Attach{Session: "a"})
		v.quiet = true
		for i := range 100 {
			p.print(fmt.Sprintf("\r%d", i))
			v.step(20 * time.Millisecond)
		}
		require.Equal(t, protocol.MaxOutputWindow, v.states, "then it waits")
		v.quiet = false
		v.p.toServer <- &protocol.Ack{Epoch: v.epoch, State: v.state}
		v.settle()
		require.Equal(t, protocol.MaxOutputWindow+1, v.states, "one difference catches up")
		require.Equal(t, "99", screen(v.term))
		v.p.Close()
	})
}

func TestAnAckOfTheFutureEndsTheConversation(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create("a")
		v := w.attach(protocol.Attach{Session: "a"})
		v.settle()
		v.p.toServer <- &protocol.Ack{Epoch: v.epoch, State: v.state + 1}
		synctest.Wait()
		require.Equal(t, 0, w.list()[0].Attached)
	})
}

func TestInputIsAppliedOnceAndAcknowledged(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		v := w.attach(protocol.Attach{Session: "a"})
		v.settle()
		v.typeIn("ab")
		v.typeIn("cd")
		v.p.toServer <- &protocol.Input{Seq: 1, Data: []byte("ab")}
		v.settle()
		require.Equal(t, "abcd", p.typed())
		require.Equal(t, uint64(2), v.acked)
		require.Equal(t, uint64(2), v.echo)
		v.p.toServer <- &protocol.Input{Seq: 4, Data: []byte("gap")}
		synctest.Wait()
		require.Equal(t, 0, w.list()[0].Attached, "a gap ends the conversation")
		require.Equal(t, "abcd", p.typed())
	})
}

func TestADeafProgramBlocksNobody(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		p.listen(false)
		v := w.attach(protocol.Attach{Session: "a"})
		v.settle()
		part := strings.Repeat("x", protocol.MaxInputBytes)
		for range protocol.InputWindowBytes / protocol.MaxInputBytes {
			v.typeIn(part)
		}
		p.print("still here")
		v.p.toServer <- &protocol.Resize{Size: domain.Size{Cols: 70, Rows: 20}}
		v.settle()
		require.Equal(t, "still here", screen(v.term))
		require.Equal(t, domain.Size{Cols: 70, Rows: 20}, p.size)
		require.Zero(t, v.acked)

		r := w.ask(time.Second, &protocol.Type{Session: "a", Data: []byte("late")})
		require.Equal(t, protocol.OutcomeUnknown, r.Outcome)

		p.listen(true)
		v.settle()
		require.Equal(t, strings.Repeat("x", protocol.InputWindowBytes)+"late", p.typed())
		require.Equal(t, v.seq, v.acked)
		v.p.Close()
	})
}

func TestInputBeyondTheWindowEndsTheConversation(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		p.listen(false)
		v := w.attach(protocol.Attach{Session: "a"})
		v.settle()
		part := strings.Repeat("x", protocol.MaxInputBytes)
		for range protocol.InputWindowBytes / protocol.MaxInputBytes {
			v.typeIn(part)
		}
		synctest.Wait()
		require.Equal(t, 1, w.list()[0].Attached, "the window itself is allowed")
		v.typeIn("y")
		synctest.Wait()
		require.Equal(t, 0, w.list()[0].Attached)
	})
}

func TestReadOnlyClientsCannotType(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		v := w.attach(protocol.Attach{Session: "a", ReadOnly: true})
		v.settle()
		v.typeIn("x")
		synctest.Wait()
		require.Empty(t, p.typed())
	})
}

func TestAnswersComeFromTheEngineAlsoUnattended(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		p.print("\x1b[5n")
		synctest.Wait()
		require.Equal(t, "\x1b[0n", p.typed())
		p.listen(false)
		for range 100 {
			p.print(strings.Repeat("\x1b[5n", 1000))
			time.Sleep(time.Second)
		}
		p.listen(true)
		synctest.Wait()
		require.LessOrEqual(t, len(p.typed()), maxReplyBytes+64<<10, "a program that asks and does not read is bounded")
	})
}

func TestSynchronizedOutputIsHeldButNotForEver(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		v := w.attach(protocol.Attach{Session: "a"})
		v.settle()
		p.print("\x1b[?2026hhalf")
		require.False(t, v.step(100*time.Millisecond))
		start := time.Now()
		p.print(" whole\x1b[?2026l")
		require.True(t, v.step(time.Second))
		require.Zero(t, time.Since(start))
		require.Equal(t, "half whole", screen(v.term))
		time.Sleep(time.Second)
		start = time.Now()
		p.print("\x1b[?2026h stuck")
		require.True(t, v.step(time.Second))
		require.Equal(t, syncTimeout, time.Since(start))
		require.Equal(t, "half whole stuck", screen(v.term))
		v.p.Close()
	})
}

func TestUnfinishedStringIsNotWaitedForForEver(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		v := w.attach(protocol.Attach{Session: "a"})
		v.settle()
		p.print("\x1b]0;slow ")
		time.Sleep(stringTimeout)
		p.print("title\a")
		v.settle()
		require.Equal(t, "slow title", v.term.Title())
		p.print("\x1b]0;cut")
		time.Sleep(stringTimeout + time.Second)
		p.print("text")
		v.settle()
		require.Equal(t, "text", screen(v.term))
		require.Equal(t, "slow title", v.term.Title())
		v.p.Close()
	})
}

func TestEventsAreDeliveredOnceAcrossAResume(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		v := w.attach(protocol.Attach{Session: "a"})
		v.settle()
		p.print("\a")
		v.settle()
		v.p.Close()
		synctest.Wait()
		p.print("\x1b]0;there\a\x1b]52;c;aGk=\a")
		synctest.Wait()
		v.resume()
		v.settle()
		require.Equal(t, []protocol.EventBody{
			protocol.Bell{}, protocol.Title{Text: "there"}, protocol.Clipboard{Selection: "c", Data: []byte("hi")},
		}, v.events)
		require.Equal(t, "there", v.term.Title())
		v.p.Close()
	})
}

func TestTextOfAProgramIsValidAndBounded(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		v := w.attach(protocol.Attach{Session: "a"})
		v.settle()
		p.print("\x1b]7;file:///\xff\a")
		p.print("\x1b]9;" + strings.Repeat("é", protocol.MaxTextBytes) + "\a")
		v.settle()
		require.Len(t, v.events, 2)
		require.True(t, utf8.ValidString(v.events[0].(protocol.Cwd).Path))
		body := v.events[1].(protocol.Notification).Body
		require.True(t, utf8.ValidString(body))
		require.LessOrEqual(t, len(body), protocol.MaxTextBytes)
	})
}

func TestUnacknowledgedEventsAreBounded(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		v := w.attach(protocol.Attach{Session: "a"})
		v.settle()
		v.p.Close()
		synctest.Wait()
		for range protocol.MaxEventsKept + 10 {
			p.print("\a")
			time.Sleep(time.Second)
		}
		v.resume()
		v.settle()
		require.Len(t, v.events, protocol.MaxEventsKept)
		require.Equal(t, uint64(protocol.MaxEventsKept+10), v.eventSeq, "the gap shows in the numbers")
		v.p.Close()
	})
}

// A client that was told the end and says goodbye is gone, although an attempt of its to come back arrives in between.
func TestGoodbyeBesideALateResume(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		v := w.attach(protocol.Attach{Session: "a"})
		v.settle()
		p.end(domain.ExitStatus{Code: 3})
		told := v.p
		for m := <-told.toClient; !isEnd(m); m = <-told.toClient {
			v.apply(m)
		}
		late := w.dial()
		late.toServer <- &protocol.Attach{Size: domain.DefaultSize, Resume: &protocol.Resume{Token: v.attached.Token}}
		require.IsType(t, &protocol.Attached{}, <-late.toClient)
		told.toServer <- &protocol.Detach{}
		for quiet := false; !quiet; {
			select {
			case <-late.toClient:
			case <-time.After(time.Second):
				quiet = true
			}
		}
		require.Empty(t, w.list())
		failure := w.ask(0, &protocol.Capture{Session: "a"}).Failure
		require.NotNil(t, failure, "the end was heard: nobody need look any more")
		require.Equal(t, fault.NotFound, failure.Kind)
		told.Close()
	})
}

func isEnd(m protocol.SessionServerMessage) bool {
	_, end := m.(*protocol.Ended)
	return end
}

// Output that answers a key comes behind the answer to the Attach that came back, however soon it is there.
func TestAnAttachIsAnsweredFirst(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		v := w.attach(protocol.Attach{Session: "a"})
		v.settle()
		v.typeIn("x")
		synctest.Wait()
		back := newPipe()
		a, reply, err := w.d.attach(&protocol.Attach{Size: domain.DefaultSize, Resume: &protocol.Resume{Token: v.attached.Token}}, newLink(back))
		require.NoError(t, err)
		p.print("x")
		synctest.Wait()
		require.Empty(t, back.toClient)
		require.Equal(t, v.attached.Token, reply.Token)
		a.disconnect(a.link)
	})
}

func TestAResumeEndsTheConnectionItReplaces(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create("a")
		v := w.attach(protocol.Attach{Session: "a"})
		v.settle()
		old := v.p
		v.p = w.dial()
		v.begin(protocol.Attach{Size: domain.DefaultSize, Resume: &protocol.Resume{Token: v.attached.Token}})
		<-old.closed
		v.settle()
		require.Equal(t, 1, w.list()[0].Attached)
	})
}

func TestUnknownTokenIsRefused(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.dial()
		p.toServer <- &protocol.Attach{Size: domain.DefaultSize, Resume: &protocol.Resume{Token: protocol.Token{1}}}
		require.Equal(t, fault.NotFound, (<-p.toClient).(*protocol.Refused).Failure.Kind)
	})
}

// TestExactlyOnceUnderCuts: whatever is typed and printed, and wherever the connection is
// cut, the program gets every byte once and in order, and the screens are equal after quiet.
func TestExactlyOnceUnderCuts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 40).Draw(rt, "steps")
		var failed string
		inWorld(t, func(w *world) {
			p := w.create("a")
			v := w.attach(protocol.Attach{Session: "a"})
			var typed, unacked []string
			var first uint64 = 1 // number of unacked[0]
			for i, step := range steps {
				switch step {
				case 0, 1:
					s := fmt.Sprintf("<%d>", i)
					typed, unacked = append(typed, s), append(unacked, s)
					v.typeIn(s)
				case 2:
					p.print(fmt.Sprintf("out %d\x1b[3%dm\r\n", i, i%8))
				case 3:
					v.step(5 * time.Millisecond)
				case 4:
					synctest.Wait()
				case 5:
					v.resume()
					got := v.attached.InputReceived
					unacked, first = unacked[got+1-first:], got+1
					for j, s := range unacked {
						v.p.toServer <- &protocol.Input{Seq: first + uint64(j), Data: []byte(s)}
					}
				}
			}
			v.settle()
			synctest.Wait()
			s, err := w.d.find("a")
			require.NoError(t, err)
			switch {
			case p.typed() != strings.Join(typed, ""):
				failed = "typed " + p.typed()
			case v.acked != v.seq:
				failed = fmt.Sprintf("acknowledged %d of %d", v.acked, v.seq)
			case screen(v.term) != screen(s.term):
				failed = "screens differ"
			}
			v.p.Close()
		})
		if failed != "" {
			rt.Fatalf("%s", failed)
		}
	})
}
