package daemon

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
)

// agents is a ports.Agents in memory.
type agents struct {
	mu    sync.Mutex
	leads map[domain.SessionID]string
}

func (a *agents) Path(domain.SessionID) string { return "/run/agent" }

func (a *agents) Point(id domain.SessionID, target string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.leads[id] = target; target == "" {
		delete(a.leads, id)
	}
	return nil
}

func (a *agents) lead() string {
	synctest.Wait()
	time.Sleep(time.Millisecond) // what comes next is later
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, target := range a.leads {
		return target
	}
	return ""
}

func TestTheAgentIsThatOfWhoUsesTheSession(t *testing.T) {
	inWorld(t, func(w *world) {
		a := &agents{leads: map[domain.SessionID]string{}}
		w.d.o.Agents = a
		r := w.ask(0, &protocol.New{Create: protocol.Create{Name: "a", Command: domain.Command{
			Argv: []string{"prog"}, Env: []string{"SSH_AUTH_SOCK=/login/1"},
		}}})
		require.Nil(t, r.Failure)
		p := w.ps.last()
		require.Contains(t, p.cmd.Env, "SSH_AUTH_SOCK=/run/agent")
		require.Equal(t, "/login/1", a.lead())

		one := w.attach(protocol.Attach{Session: "a", Agent: "/login/2"})
		require.Equal(t, "/login/2", a.lead())
		two := w.attach(protocol.Attach{Session: "a", Agent: "/login/3"})
		require.Equal(t, "/login/3", a.lead())
		one.typeIn("x")
		require.Equal(t, "/login/2", a.lead(), "whoever typed last")
		ro := w.attach(protocol.Attach{Session: "a", Agent: "/login/4", ReadOnly: true})
		require.Equal(t, "/login/2", a.lead())
		one.p.Close()
		require.Equal(t, "/login/3", a.lead())
		two.p.Close()
		require.Empty(t, a.lead(), "nobody is there to answer for")
		ro.p.Close()
		three := w.attach(protocol.Attach{Session: "a", Agent: "relative"})
		require.Empty(t, a.lead())
		three.p.Close()
		four := w.attach(protocol.Attach{Session: "a", Agent: "/login/5"})
		require.Equal(t, "/login/5", a.lead())
		p.end(domain.ExitStatus{})
		four.settle()
		require.Empty(t, a.lead(), "the session is gone")
	})
}

func TestASessionWithoutAnAgentGetsNone(t *testing.T) {
	inWorld(t, func(w *world) {
		a := &agents{leads: map[domain.SessionID]string{}}
		w.d.o.Agents = a
		w.create("a")
		w.attach(protocol.Attach{Session: "a", Agent: "/login/2"})
		require.Empty(t, a.lead())
	})
}
