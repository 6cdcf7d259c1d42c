package daemon

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

func TestABriefListHasNoDirectories(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create("a")
		full := w.list()
		require.Equal(t, "/home/u", full[0].Cwd)
		brief := w.ask(0, &protocol.List{Brief: true}).Body.(*protocol.Sessions).List
		full[0].Cwd = ""
		require.Equal(t, full, brief)
	})
}

// Who makes a session waits for no look at a program that has only begun.
func TestANewSessionIsNotLookedAt(t *testing.T) {
	inWorld(t, func(w *world) {
		made := w.ask(0, &protocol.New{Create: protocol.Create{Name: "a"}}).Body.(*protocol.Sessions).List
		require.Len(t, made, 1)
		require.Equal(t, "/home/u", made[0].Cwd)
		require.Zero(t, w.ps.last().looked())
		w.list()
		require.NotZero(t, w.ps.last().looked(), "but one that is listed is")
	})
}

func TestNamesAreGivenOrTheLowestFreeNumber(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create("")
		w.create("work")
		w.create("1")
		w.create("")
		var names []string
		for _, s := range w.list() {
			names = append(names, s.Name)
		}
		require.Equal(t, []string{"0", "work", "1", "2"}, names)

		r := w.ask(0, &protocol.New{Create: protocol.Create{Name: "work"}})
		require.Equal(t, fault.Conflict, r.Failure.Kind)
		r = w.ask(0, &protocol.Kill{Session: "wrok"})
		require.Equal(t, fault.NotFound, r.Failure.Kind)
		require.Contains(t, r.Failure.Hint, `"work"`)
	})
}

func TestAFailedStartFreesTheName(t *testing.T) {
	inWorld(t, func(w *world) {
		w.ps.refuse = fault.New(fault.NotFound, "no command %q", "nope")
		r := w.ask(0, &protocol.New{Create: protocol.Create{Name: "a"}})
		require.Equal(t, fault.NotFound, r.Failure.Kind)
		w.ps.refuse = nil
		w.create("a")
	})
}

func TestSessionLimit(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.dial()
		defer p.Close()
		for i := range uint64(protocol.MaxSessions) {
			p.toServer <- &protocol.Request{ID: i, Body: &protocol.New{}}
			require.Nil(t, (<-p.toClient).(*protocol.Result).Failure)
		}
		p.toServer <- &protocol.Request{ID: 9999, Body: &protocol.New{}}
		require.Equal(t, fault.Limit, (<-p.toClient).(*protocol.Result).Failure.Kind)
	})
}

func TestTheEnvironmentIsTheClientsWithOurTerminal(t *testing.T) {
	inWorld(t, func(w *world) {
		r := w.ask(0, &protocol.New{Create: protocol.Create{Name: "e", Command: domain.Command{
			Argv: []string{"prog"}, Dir: "/tmp",
			Env: []string{"TERM=dumb", "HOME=/h", "TMUX=x", "VEV_SESSION=other", "LANG=C.UTF-8", "broken"},
		}}})
		require.Nil(t, r.Failure)
		id := r.Body.(*protocol.Sessions).List[0].ID
		require.Equal(t, domain.Command{Argv: []string{"prog"}, Dir: "/tmp", Env: []string{
			"HOME=/h", "LANG=C.UTF-8", "TERM=xterm-256color", "COLORTERM=truecolor", "VEV=" + id.String(), "VEV_SESSION=e",
		}}, w.ps.last().cmd)
	})
}

func TestTheEnvironmentIsTheDaemonsForAClientElsewhere(t *testing.T) {
	inWorld(t, func(w *world) {
		w.d.o.Environment = func() []string {
			return []string{"HOME=/d", "LANG=C", "PATH=/bin", "SSH_TTY=/dev/pts/9", "SSH_AUTH_SOCK=/tmp/old", "TERM=dumb", "SHLVL=3"}
		}
		r := w.ask(0, &protocol.New{Create: protocol.Create{Name: "e", OwnEnv: true, Command: domain.Command{
			Argv: []string{"prog"}, Env: []string{"LANG=C.UTF-8", "X=1"},
		}}})
		require.Nil(t, r.Failure)
		id := r.Body.(*protocol.Sessions).List[0].ID
		require.Equal(t, []string{
			"HOME=/d", "PATH=/bin", "LANG=C.UTF-8", "X=1",
			"TERM=xterm-256color", "COLORTERM=truecolor", "VEV=" + id.String(), "VEV_SESSION=e",
		}, w.ps.last().cmd.Env)
	})
}

func TestAProgramThatEndsUnattendedStaysListedUntilSeen(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("job")
		for i := 1; i <= 1000; i++ {
			p.print(fmt.Sprintf("%d\r\n", i))
		}
		p.end(domain.ExitStatus{Code: 7})
		synctest.Wait()
		rows := w.list()
		require.Len(t, rows, 1)
		require.Equal(t, domain.Exited, rows[0].State)
		require.Equal(t, 7, rows[0].Exit.Code)
		require.Zero(t, rows[0].Pid)

		r := w.ask(0, &protocol.Capture{Session: "job", HistoryLines: 1000})
		lines := r.Body.(*protocol.Captured).Lines
		require.Equal(t, uint64(0), lines.First)
		for i, l := range lines.List[:1000] {
			require.Equal(t, fmt.Sprint(i+1), l.Text)
		}
		require.Len(t, w.list(), 1, "a capture is no look")

		v := w.attach(protocol.Attach{Session: "job"})
		v.settle()
		require.Equal(t, &protocol.Ended{Reason: protocol.EndExited, Exit: domain.ExitStatus{Code: 7}}, v.ended)
		require.Contains(t, screen(v.term), "1000")
		synctest.Wait()
		require.Empty(t, w.list(), "it was looked at")
	})
}

func TestAnExitedSessionIsForgottenAfterADay(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create("job").end(domain.ExitStatus{})
		time.Sleep(keepExited - time.Minute)
		require.Len(t, w.list(), 1)
		time.Sleep(2 * time.Minute)
		require.Empty(t, w.list())
	})
}

func TestEveryAttachedClientIsToldTheEnd(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("job")
		a := w.attach(protocol.Attach{Session: "job"})
		b := w.attach(protocol.Attach{Session: "job", ReadOnly: true})
		a.settle()
		b.settle()
		p.print("last words")
		p.end(domain.ExitStatus{Signal: syscall.SIGTERM})
		for _, v := range []*viewer{a, b} {
			v.settle()
			require.NotNil(t, v.ended)
			require.Equal(t, protocol.EndExited, v.ended.Reason)
			require.Equal(t, syscall.SIGTERM, v.ended.Exit.Signal)
			require.Equal(t, "last words", screen(v.term))
		}
		synctest.Wait()
		require.Empty(t, w.list(), "gone from the list")
	})
}

func TestAClientLostAtTheEndDoesNotLoseTheStatus(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("job")
		v := w.attach(protocol.Attach{Session: "job"})
		v.settle()
		v.p.Close()
		synctest.Wait()
		p.print("bye")
		p.end(domain.ExitStatus{Code: 3})
		synctest.Wait()
		require.Equal(t, domain.Exited, w.list()[0].State)
		v.resume()
		v.settle()
		require.Equal(t, 3, v.ended.Exit.Code)
		require.Equal(t, "bye", screen(v.term))
		synctest.Wait()
		require.Empty(t, w.list())
	})
}

func TestAProcessThatKeepsTheTerminalDoesNotHoldTheEnd(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("job")
		p.mu.Lock()
		p.keeps = true
		p.mu.Unlock()
		p.print("out")
		p.end(domain.ExitStatus{})
		time.Sleep(drainTimeout + time.Millisecond)
		synctest.Wait()
		require.Equal(t, domain.Exited, w.list()[0].State)
	})
}

func TestKillAsksThenKills(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		v := w.attach(protocol.Attach{Session: "a"})
		v.settle()
		p.mu.Lock()
		p.hangs = true
		p.mu.Unlock()
		start := time.Now()
		require.Nil(t, w.ask(0, &protocol.Kill{Session: "a"}).Failure)
		require.Equal(t, killGrace, time.Since(start))
		require.Empty(t, w.list())
		v.settle()
		require.Equal(t, protocol.EndKilled, v.ended.Reason)
		require.Equal(t, syscall.SIGKILL, v.ended.Exit.Signal)
		w.create("a") // the name is free
	})
}

func TestTakeAndDetachEndTheOthers(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create("a")
		one := w.attach(protocol.Attach{Session: "a"})
		one.settle()
		two := w.attach(protocol.Attach{Session: "a", Take: true})
		one.settle()
		require.Equal(t, protocol.EndTaken, one.ended.Reason)
		two.settle()
		require.Equal(t, 1, w.list()[0].Attached)
		require.Nil(t, w.ask(0, &protocol.DetachAll{Session: "a"}).Failure)
		two.settle()
		require.Equal(t, protocol.EndDetached, two.ended.Reason)
		synctest.Wait()
		require.Equal(t, 0, w.list()[0].Attached)
	})
}

// A client that was away when it was sent away, a moment between two links or a night, hears so when it comes back: once.
func TestWhoIsAwayHearsOfTheEndLater(t *testing.T) {
	inWorld(t, func(w *world) {
		for reason, end := range map[protocol.EndReason]func(){
			protocol.EndTaken: func() {
				v := w.attach(protocol.Attach{Session: "a", Take: true})
				v.settle()
				v.p.Close()
				synctest.Wait()
			},
			protocol.EndDetached: func() { require.Nil(t, w.ask(0, &protocol.DetachAll{Session: "a"}).Failure) },
		} {
			id := w.create("a")
			for _, told := range []bool{false, true} { // before its link was lost, or not
				v := w.attach(protocol.Attach{Session: "a"})
				v.settle()
				if told {
					end()
				}
				v.p.Close()
				synctest.Wait()
				if !told {
					end()
				}
				others := w.list()[0].Attached
				v.resume()
				require.Equal(t, others, w.list()[0].Attached, "it does not count")
				m := <-v.p.toClient
				require.True(t, isEnd(m), "%T", m)
				require.Equal(t, reason, m.(*protocol.Ended).Reason)
				v.p.toServer <- &protocol.Detach{}
				<-v.p.closed
				p := w.dial()
				p.toServer <- &protocol.Attach{Size: domain.DefaultSize, Resume: &protocol.Resume{Token: v.attached.Token}}
				require.Equal(t, fault.NotFound, (<-p.toClient).(*protocol.Refused).Failure.Kind)
			}
			v := w.attach(protocol.Attach{Session: "a"})
			v.settle()
			v.p.Close()
			synctest.Wait()
			end()
			id.end(domain.ExitStatus{Code: 3})
			synctest.Wait()
			v.resume()
			require.NotEmpty(t, w.list(), "nobody is there who will be told how the program ended")
			require.True(t, isEnd(<-v.p.toClient))
			v.p.toServer <- &protocol.Detach{}
			<-v.p.closed
			require.NotEmpty(t, w.list(), "it was not told how the program ended: %d", reason)
			require.Nil(t, w.ask(0, &protocol.Kill{Session: "a"}).Failure)
		}
	})
}

func TestAttachmentLimitDropsTheOldestWithoutAClient(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create("a")
		var all []*viewer
		for range protocol.MaxAttachments {
			v := w.attach(protocol.Attach{Session: "a"})
			v.settle()
			all = append(all, v)
		}
		p := w.dial()
		p.toServer <- &protocol.Attach{Session: "a", Size: domain.DefaultSize}
		require.Equal(t, fault.Limit, (<-p.toClient).(*protocol.Refused).Failure.Kind)
		dropped := func(v *viewer) {
			p := w.dial()
			p.toServer <- &protocol.Attach{Size: domain.DefaultSize, Resume: &protocol.Resume{Token: v.attached.Token}}
			require.Equal(t, fault.NotFound, (<-p.toClient).(*protocol.Refused).Failure.Kind)
		}
		all[3].p.Close()
		synctest.Wait()
		last := w.attach(protocol.Attach{Session: "a"})
		last.settle()
		dropped(all[3])

		all[5].p.Close()
		clients := w.ask(0, &protocol.Clients{Session: "a"}).Body.(*protocol.ClientList).List
		require.Nil(t, w.ask(0, &protocol.DetachClient{Session: "a", Client: clients[8].ID}).Failure)
		synctest.Wait()
		var sentAway *viewer
		for _, v := range all {
			if len(v.p.toClient) > 0 && isEnd(<-v.p.toClient) {
				sentAway = v
			}
		}
		sentAway.p.Close() // without a word
		synctest.Wait()
		w.attach(protocol.Attach{Session: "a"}).settle()
		all[5].resume()
		dropped(sentAway)
		for _, v := range all {
			v.p.Close()
		}
	})
}

func TestRunEndsWhenNobodyNeedsTheDaemon(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		done := make(chan error, 1)
		w.wg.Go(func() { done <- w.d.Run(w.t.Context()) })
		time.Sleep(time.Hour)
		require.Empty(t, done, "there is a session")
		v := w.attach(protocol.Attach{Session: "a"})
		v.settle()
		p.end(domain.ExitStatus{})
		v.settle()
		v.p.Close()
		synctest.Wait()
		start := time.Now()
		require.NoError(t, <-done)
		require.Equal(t, DefaultIdle, time.Since(start))
	})
}

func TestRename(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create("a")
		w.create("b")
		v := w.attach(protocol.Attach{Session: "a"})
		require.Equal(t, fault.Conflict, w.ask(0, &protocol.Rename{Session: "a", Name: "b"}).Failure.Kind)
		require.Equal(t, fault.Usage, w.ask(0, &protocol.Rename{Session: "a", Name: "-x"}).Failure.Kind)
		require.Nil(t, w.ask(0, &protocol.Rename{Session: "a", Name: "c"}).Failure)
		v.settle()
		require.Contains(t, v.events, protocol.EventBody(protocol.Renamed{Name: "c"}))
		require.Equal(t, fault.NotFound, w.ask(0, &protocol.Rename{Session: "a", Name: "d"}).Failure.Kind)
		v.p.Close()
	})
}

func TestRequestLimit(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create("a")
		p := w.dial()
		for i := range uint64(protocol.MaxRequestsPerConn) {
			p.toServer <- &protocol.Request{ID: i, Timeout: time.Hour, Body: &protocol.Wait{Session: "a", Exit: true}}
		}
		synctest.Wait()
		p.toServer <- &protocol.Request{ID: 500, Body: &protocol.List{}}
		require.Equal(t, fault.Limit, (<-p.toClient).(*protocol.Result).Failure.Kind)
		p.toServer <- &protocol.Cancel{ID: 3}
		r := (<-p.toClient).(*protocol.Result)
		require.Equal(t, uint64(3), r.ID)
		require.Equal(t, fault.Canceled, r.Failure.Kind)
		p.Close()
	})
}

func TestWaits(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		p.print("old prompt$ ")
		synctest.Wait()
		r := w.ask(time.Second, &protocol.Wait{Session: "a", Text: `prompt\$`})
		require.Equal(t, &protocol.WaitResult{Met: true, Match: "old prompt$"}, r.Body)

		r = w.ask(time.Second, &protocol.Wait{Session: "a", Text: "never"})
		require.Equal(t, fault.Timeout, r.Failure.Kind)
		r = w.ask(time.Second, &protocol.Wait{Session: "a", Text: "("})
		require.Equal(t, fault.Usage, r.Failure.Kind)

		go func() {
			time.Sleep(time.Second)
			p.print("\r\nneedle" + strings.Repeat("\r\nhay", 500)) // has left the screen when it is looked for
		}()
		r = w.ask(time.Minute, &protocol.Wait{Session: "a", Text: "^needle$"})
		require.Nil(t, r.Failure)

		start := time.Now()
		go func() {
			for range 3 {
				time.Sleep(time.Second)
				p.print(".")
			}
		}()
		time.Sleep(time.Millisecond)
		r = w.ask(time.Minute, &protocol.Wait{Session: "a", Idle: 2 * time.Second})
		require.True(t, r.Body.(*protocol.WaitResult).Met)
		require.Equal(t, 5*time.Second, time.Since(start))

		go func() { time.Sleep(time.Second); p.end(domain.ExitStatus{Code: 9}) }()
		r = w.ask(time.Minute, &protocol.Wait{Session: "a", Exit: true})
		require.Equal(t, 9, r.Body.(*protocol.WaitResult).Exit.Code)
	})
}
