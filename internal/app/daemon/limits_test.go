package daemon

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

func TestAResumeDoesNotOpenASecondInputWindow(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		p.listen(false)
		v := w.attach(protocol.Attach{Session: "a"})
		v.settle()
		part := strings.Repeat("x", protocol.MaxInputBytes)
		const parts = protocol.InputWindowBytes / protocol.MaxInputBytes
		for range parts {
			v.typeIn(part)
		}
		synctest.Wait()
		for range 3 {
			v.resume()
			require.Zero(t, v.attached.InputReceived, "nothing reached the terminal")
			for i := range uint64(parts) {
				v.p.toServer <- &protocol.Input{Seq: i + 1, Data: []byte(part)}
			}
			v.settle()
			require.Equal(t, 1, w.list()[0].Attached, "repeats are free")
		}
		p.listen(true)
		v.settle()
		require.Equal(t, strings.Repeat(part, parts), p.typed())
	})
}

func TestTheByteWindowHolds(t *testing.T) {
	inWorld(t, func(w *world) {
		size := domain.Size{Cols: 400, Rows: 200}
		p := w.create("a")
		v := w.attach(protocol.Attach{Session: "a", Size: size})
		v.settle()
		v.quiet = true
		paint := func(seed int) {
			var b strings.Builder
			b.WriteString("\x1b[H")
			for i := range size.Cols * size.Rows {
				fmt.Fprintf(&b, "\x1b[38;2;%d;%d;%d;48;2;%d;9;9m%c", i%256, (i/7+seed)%256, seed%256, i%253, 'a'+(i+seed)%26)
			}
			p.print(b.String())
		}
		v.p.Close()
		synctest.Wait()
		paint(1)
		time.Sleep(time.Second)
		states, bytes := v.states, v.bytes
		v.resumeAt(size)
		v.settle()
		require.Equal(t, states+1, v.states)
		require.Greater(t, v.bytes-bytes, protocol.MaxOutputWindowBytes, "one state of any size may go alone")
		paint(2)
		v.settle()
		require.Equal(t, states+1, v.states, "nothing goes on top of a full window")
		v.quiet = false
		v.p.toServer <- &protocol.Ack{Epoch: v.epoch, State: v.state}
		v.settle()
		s, err := w.d.find("a")
		require.NoError(t, err)
		require.Equal(t, screen(s.term), screen(v.term))
	})
}

func TestAPasteIsCleaned(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		c := w.dial() // the chunks of a paste come on one conversation
		defer c.Close()
		paste := func(text string, begin, end bool) {
			w.next++
			c.toServer <- &protocol.Request{ID: w.next, Body: &protocol.Paste{Session: "a", Data: []byte(text), Begin: begin, End: end}}
			require.Nil(t, (<-c.toClient).(*protocol.Result).Failure)
		}
		paste("ls\n", true, true)
		require.Equal(t, "ls\r", p.typed())
		p.print("\x1b[?2004h")
		synctest.Wait()
		paste("one\n\x1b[201~rm\xc2", true, false)
		paste("\x9b201~\r", false, false)
		paste("\ntwo", false, true)
		require.Equal(t, "ls\r\x1b[200~one\r[201~rm201~\rtwo\x1b[201~", p.typed(), "a chunk ends anywhere")
	})
}

func TestAPasteThatIsCutOffIsEnded(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		p.print("\x1b[?2004h")
		synctest.Wait()
		c := w.dial()
		c.toServer <- &protocol.Request{ID: 1, Body: &protocol.Paste{Session: "a", Data: []byte("half"), Begin: true}}
		<-c.toClient
		c.Close()
		synctest.Wait()
		require.Equal(t, "\x1b[200~half\x1b[201~", p.typed())
	})
}

func TestKeysFollowTheProgramsModes(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		press := func(names ...string) *protocol.Failure {
			return w.ask(0, &protocol.Keys{Session: "a", Names: names}).Failure
		}
		require.Nil(t, press("Up", "C-c"))
		p.print("\x1b[?1h")
		synctest.Wait()
		require.Nil(t, press("Up"))
		require.Equal(t, "\x1b[A\x03\x1bOA", p.typed())
		require.Equal(t, fault.Usage, press("a", "Nope").Kind)
		require.Equal(t, "\x1b[A\x03\x1bOA", p.typed(), "all keys or none")
		require.Equal(t, fault.Usage, press("C-1").Kind, "no form for it")
		p.print("\x1b[>1u")
		synctest.Wait()
		require.Nil(t, press("S-Enter", "C-1"))
		require.Equal(t, "\x1b[A\x03\x1bOA\x1b[13;2u\x1b[49;5u", p.typed())
		p.print("\x1b[<u\x1b[>4;2m")
		synctest.Wait()
		require.Nil(t, press("S-Enter"))
		require.Equal(t, "\x1b[A\x03\x1bOA\x1b[13;2u\x1b[49;5u\x1b[27;2;13~", p.typed())
	})
}

func TestInputOfRequestsIsBounded(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		p.listen(false)
		half := []byte(strings.Repeat("x", maxRequestBytes*5/8))
		require.Equal(t, protocol.OutcomeUnknown, w.ask(time.Second, &protocol.Type{Session: "a", Data: half}).Outcome)
		r := w.ask(time.Second, &protocol.Type{Session: "a", Data: half})
		require.Equal(t, fault.Timeout, r.Failure.Kind, "there is no room: nothing is queued")
		p.listen(true)
		synctest.Wait()
		require.Len(t, p.typed(), len(half))
	})
}

func TestEventsAreNotRepeated(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		v := w.attach(protocol.Attach{Session: "a"})
		v.settle()
		v.quiet = true
		p.print("\a")
		v.settle()
		p.print("x")
		v.settle() // fails by itself on a repeat
		require.Len(t, v.events, 1)
	})
}

func TestEventBytesAreBounded(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		v := w.attach(protocol.Attach{Session: "a"})
		v.settle()
		v.p.Close()
		synctest.Wait()
		for range 5 {
			p.print("\x1b]52;c;" + base64.StdEncoding.EncodeToString(make([]byte, 4<<20)) + "\a")
			time.Sleep(time.Second)
		}
		v.resume()
		v.settle()
		require.Len(t, v.events, maxEventBytes/(4<<20))
		require.Equal(t, uint64(5), v.eventSeq)
	})
}

func TestAnEndThatIsBeingToldIsNotListed(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		v := w.attach(protocol.Attach{Session: "a"})
		v.settle()
		p.end(domain.ExitStatus{Code: 1})
		m := <-v.p.toClient
		require.IsType(t, &protocol.Ended{}, m)
		require.Empty(t, w.list(), "its client is being told")
		v.p.Close()
		synctest.Wait()
		require.Len(t, w.list(), 1, "the client went before it said that it knew")
	})
}

func TestHistoryByNumber(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		for i := range 3000 {
			p.print(fmt.Sprintf("line %d\r\n", i))
		}
		synctest.Wait()
		lines := w.ask(0, &protocol.History{Session: "a", First: 100, Count: 5000}).Body.(*protocol.Lines)
		require.True(t, lines.More)
		require.Len(t, lines.List, protocol.MaxHistoryLines)
		require.Equal(t, "line 100", lines.List[0].Text)
		lines = w.ask(0, &protocol.History{Session: "a", First: 1 << 60, Count: 5}).Body.(*protocol.Lines)
		require.Empty(t, lines.List)
		require.Equal(t, fault.NotFound, w.ask(0, &protocol.History{Session: "a", Pane: 7}).Failure.Kind)

		c := w.ask(0, &protocol.Capture{Session: "a", HistoryLines: 10}).Body.(*protocol.Captured)
		require.Equal(t, uint64(3001-24-10), c.Lines.First)
		require.Len(t, c.Lines.List, 34)
		require.Equal(t, 24, c.CursorRow)
		require.Equal(t, 1, c.CursorCol)
	})
}
