package pulse

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain"
)

var t0 = time.Unix(1_000_000, 0)

const rtt = 50 * time.Millisecond

// link is what a link of a round trip of 50 ms knows that was heard at a time.
func link(heard time.Time) domain.Vitals { return domain.Vitals{RTT: rtt, Heard: heard} }

// inState is a machine in a state at t0, whose host was reached before if again.
func inState(t *testing.T, s domain.LinkState, again bool) *Machine {
	m := &Machine{reached: again}
	switch s {
	case domain.LinkNone:
	case domain.LinkConnecting, domain.LinkReconnecting:
		m.Want()
	case domain.LinkGone:
		m.Want()
		m.Failed(t0, 0)
	default:
		begun := t0.Add(-BeatEvery)
		m.Up(begun)
		m.Answered(begun, rtt)
		if s == domain.LinkConnected {
			break
		}
		begun = begun.Add(-BeatEvery)
		m.asked = begun
		require.True(t, m.Look(begun.Add(BeatEvery), link(begun), true).Ask)
		if s == domain.LinkSlow {
			m.due = t0.Add(-LateAfter)
			m.Look(t0, link(begun), true)
		} else {
			m.Look(t0, link(begun), true)
		}
	}
	require.Equal(t, s, m.State())
	return m
}

var events = []struct {
	name string
	do   func(m *Machine) Advice
}{
	{"somebody wants a link", func(m *Machine) Advice { m.Want(); return Advice{} }},
	{"a link is made", func(m *Machine) Advice { m.Up(t0); return Advice{} }},
	{"it ends, and is needed", func(m *Machine) Advice { m.Ended(true); return Advice{} }},
	{"it ends", func(m *Machine) Advice { m.Ended(false); return Advice{} }},
	{"it was kept long enough", func(m *Machine) Advice { m.Dropped(); return Advice{} }},
	{"a search fails", func(m *Machine) Advice { m.Failed(t0, 0); return Advice{} }},
	{"nobody waits any more", func(m *Machine) Advice { m.Left(); return Advice{} }},
	{"an answer comes in time", func(m *Machine) Advice { m.Answered(t0, rtt); return Advice{} }},
	{"an answer comes late", func(m *Machine) Advice { m.Answered(t0, time.Second); return Advice{} }},
	{"something is sent", func(m *Machine) Advice { m.Urge(); return m.Look(t0, link(t0.Add(-time.Hour)), true) }},
	{"the machine slept", func(m *Machine) Advice { m.Woke(t0); return m.Look(t0, link(t0.Add(-time.Hour)), true) }},
	{"nothing was heard for long, and somebody uses it", func(m *Machine) Advice { return m.Look(t0, link(t0.Add(-time.Hour)), true) }},
	{"nothing was heard for long", func(m *Machine) Advice { return m.Look(t0, link(t0.Add(-time.Hour)), false) }},
	{"something was heard just now", func(m *Machine) Advice { return m.Look(t0, link(t0), true) }},
}

// Every state x every event: the state then, and what is to be done.
func TestMachineMatrix(t *testing.T) {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "%s\n", e.name)
		for s := domain.LinkNone; s <= domain.LinkGone; s++ {
			m := inState(t, s, s != domain.LinkConnecting)
			a := e.do(m)
			fmt.Fprintf(&b, "\t%s: %s", s, m.State())
			for i, is := range []bool{a.Ask, a.Beside, a.GiveUp} {
				if is {
					fmt.Fprintf(&b, ", %s", []string{"ask", "beside", "give up"}[i])
				}
			}
			if !a.Next.IsZero() {
				fmt.Fprintf(&b, ", look in %s", a.Next.Sub(t0))
			}
			b.WriteString("\n")
		}
	}
	require.Equal(t, strings.TrimSpace(machineMatrix), strings.TrimSpace(b.String()))
}

const machineMatrix = `
somebody wants a link
	none: reconnecting
	connecting: connecting
	connected: connected
	slow: slow
	no contact: no contact
	reconnecting: reconnecting
	gone: reconnecting
a link is made
	none: connected
	connecting: connected
	connected: connected
	slow: connected
	no contact: connected
	reconnecting: connected
	gone: connected
it ends, and is needed
	none: none
	connecting: connecting
	connected: reconnecting
	slow: reconnecting
	no contact: reconnecting
	reconnecting: reconnecting
	gone: gone
it ends
	none: none
	connecting: connecting
	connected: none
	slow: none
	no contact: none
	reconnecting: reconnecting
	gone: gone
it was kept long enough
	none: none
	connecting: connecting
	connected: none
	slow: none
	no contact: none
	reconnecting: reconnecting
	gone: gone
a search fails
	none: gone
	connecting: gone
	connected: connected
	slow: slow
	no contact: no contact
	reconnecting: gone
	gone: gone
nobody waits any more
	none: none
	connecting: none
	connected: connected
	slow: slow
	no contact: no contact
	reconnecting: none
	gone: gone
an answer comes in time
	none: none
	connecting: connecting
	connected: connected
	slow: connected
	no contact: connected
	reconnecting: reconnecting
	gone: gone
an answer comes late
	none: none
	connecting: connecting
	connected: slow
	slow: slow
	no contact: slow
	reconnecting: reconnecting
	gone: gone
something is sent
	none: none
	connecting: connecting
	connected: connected, ask, look in 400ms
	slow: slow, look in 600ms
	no contact: no contact, beside
	reconnecting: reconnecting
	gone: gone
the machine slept
	none: none
	connecting: connecting
	connected: connected, ask, look in 300ms
	slow: slow, look in 300ms
	no contact: slow, look in 300ms
	reconnecting: reconnecting
	gone: gone
nothing was heard for long, and somebody uses it
	none: none
	connecting: connecting
	connected: connected, ask, look in 400ms
	slow: slow, look in 600ms
	no contact: no contact, beside
	reconnecting: reconnecting
	gone: gone
nothing was heard for long
	none: none
	connecting: connecting
	connected: connected, look in 57s
	slow: slow, look in 2.6s
	no contact: no contact, give up
	reconnecting: reconnecting
	gone: gone
something was heard just now
	none: none
	connecting: connecting
	connected: connected, ask, look in 400ms
	slow: slow, look in 400ms
	no contact: slow, look in 400ms
	reconnecting: reconnecting
	gone: gone
`

// beat is a link in use that answers nothing from t0 on, looked at whenever it wants to be.
func TestTheBoundsOfSilence(t *testing.T) {
	for _, tc := range []struct {
		name                      string
		rtt                       time.Duration
		woke                      bool
		late, beside, silent, ask time.Duration
	}{
		{"near", rtt, false, LateAfter, DoubtAfter, SilentAfter, BeatEvery},
		{"far", time.Second, false, 4 * time.Second, 4 * time.Second, 4 * time.Second, BeatEvery},
		{"after sleep", rtt, true, LateAfter, WakeDoubtAfter, SilentAfter, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := &Machine{}
			m.Up(t0)
			m.Answered(t0, tc.rtt)
			if tc.woke {
				m.Woke(t0)
			}
			v := domain.Vitals{RTT: tc.rtt, Heard: t0}
			seen := map[string]time.Duration{}
			note := func(what string, is bool, at time.Duration) {
				if _, was := seen[what]; is && !was {
					seen[what] = at
				}
			}
			for now := t0; now.Before(t0.Add(time.Minute)); {
				a := m.Look(now, v, true)
				at := now.Sub(t0)
				note("ask", a.Ask, at)
				at -= tc.ask
				note("late", m.State() == domain.LinkSlow, at)
				note("beside", a.Beside, at)
				note("silent", m.State() == domain.LinkSilent, at)
				if a.Next.IsZero() {
					break
				}
				require.True(t, a.Next.After(now))
				now = a.Next
			}
			want := map[string]time.Duration{"ask": tc.ask, "late": tc.late, "beside": tc.beside, "silent": tc.silent}
			if tc.late == tc.silent {
				delete(want, "late")
			}
			require.Equal(t, want, seen)
		})
	}
}

// What is sent wants an answer, but no more than one in UrgeEvery. What is sent while an answer is due wants another.
func TestWhatIsSentIsAskedFor(t *testing.T) {
	m := &Machine{}
	m.Up(t0)
	for range 3 {
		now := m.asked
		m.Answered(now, rtt)
		m.Urge()
		a := m.Look(now.Add(UrgeEvery/2), link(now), true)
		require.Equal(t, Advice{Next: now.Add(UrgeEvery)}, a)
		a = m.Look(a.Next, link(now), true)
		require.True(t, a.Ask)
		m.Answered(a.Next, rtt)
		require.Equal(t, m.asked.Add(BeatEvery), m.Look(m.asked, link(m.asked), true).Next)
	}
	a := m.Look(m.asked.Add(BeatEvery), link(m.asked), true)
	require.True(t, a.Ask)
	m.Urge()
	m.Answered(m.due.Add(rtt), rtt)
	require.Equal(t, m.asked.Add(UrgeEvery), m.Look(m.asked, link(m.asked), true).Next)
}

func TestALinkThatIsOnlyKept(t *testing.T) {
	m := &Machine{}
	m.Up(t0)
	m.Answered(t0, rtt)
	a := m.Look(t0, link(t0), false)
	require.Equal(t, Advice{Next: t0.Add(IdleEvery)}, a)
	asked := a.Next
	a = m.Look(asked, link(t0), false)
	require.True(t, a.Ask)
	for !a.Next.IsZero() {
		at := a.Next
		a = m.Look(at, link(t0), false)
		require.False(t, a.Beside, "nobody needs another")
		require.Equal(t, !at.Before(asked.Add(SilentAfter)), a.GiveUp)
	}
	require.True(t, a.GiveUp)
	m.Dropped()
	require.Equal(t, domain.LinkNone, m.State())
}

// A link that is full looks silent. The next one that is full too is left later, up to a bound, until one answers in time.
func TestLinksAreNotLeftOneAfterTheOther(t *testing.T) {
	m, now := &Machine{}, t0
	m.Up(now)
	var stayed []time.Duration
	leave := func() {
		asked := now.Add(BeatEvery)
		a := m.Look(asked, link(now), true)
		for !a.Beside {
			require.True(t, a.Next.After(asked) || a.Ask)
			now = a.Next
			a = m.Look(now, link(t0), true)
		}
		stayed = append(stayed, now.Sub(asked))
		m.Up(now)
	}
	for range 8 {
		leave()
	}
	require.Equal(t, []time.Duration{
		DoubtAfter, 2 * DoubtAfter, 4 * DoubtAfter, 8 * DoubtAfter, 16 * DoubtAfter, MostDoubtAfter, MostDoubtAfter, MostDoubtAfter,
	}, stayed)
	m.Answered(now, rtt)
	leave()
	require.Equal(t, DoubtAfter, stayed[8])
	m.Ended(true)
	m.Up(now)
	require.Equal(t, 2*DoubtAfter, m.doubtAfter(), "it ended, which is not an answer")
	m.Answered(now, time.Minute) // the first there is says what is usual
	require.Equal(t, DoubtAfter, m.doubtAfter())
}

// Searches beside a silent link that fail become rarer, up to a bound, and are not all at once.
func TestSearchesBesideBackOff(t *testing.T) {
	for _, jitter := range []float64{0, 1} {
		m := &Machine{}
		m.Up(t0)
		m.Answered(t0, rtt)
		now := t0.Add(BeatEvery)
		v := link(t0)
		var pauses []time.Duration
		for range 8 {
			failed := now
			m.Failed(now, jitter)
			a := m.Look(now, v, true)
			for !a.Beside {
				require.True(t, a.Next.After(now))
				now = a.Next
				a = m.Look(now, v, true)
			}
			pauses = append(pauses, now.Sub(failed))
		}
		least := time.Duration(float64(lastRetry) * (1 + jitter) / 2)
		require.Equal(t, least, pauses[7])
		require.IsIncreasing(t, pauses[1:6])
		m.Answered(now, rtt)
		m.Failed(now, 1)
		require.Equal(t, now.Add(firstRetry), m.retryAt, "it answered: the next silence is a new one")
		require.False(t, m.MayRetry(now.Add(firstRetry-1)))
		require.True(t, m.MayRetry(now.Add(firstRetry)))
	}
}

// Whatever happens: only a link can be asked, there is something to wait for while one is silent and used, and the state
// says what is there.
func TestMachineModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, now, heard, up, used := &Machine{}, t0, t0, false, false
		var a Advice
		due := false
		t.Repeat(map[string]func(*rapid.T){
			"want":    func(*rapid.T) { m.Want() },
			"up":      func(*rapid.T) { m.Up(now); up, due, heard = true, false, now },
			"ended":   func(t *rapid.T) { m.Ended(rapid.Bool().Draw(t, "wanted")); up, due = false, false },
			"dropped": func(*rapid.T) { m.Dropped(); up, due = false, false },
			"failed":  func(t *rapid.T) { m.Failed(now, rapid.Float64Range(0, 1).Draw(t, "jitter")) },
			"left":    func(*rapid.T) { m.Left() },
			"answered": func(t *rapid.T) {
				m.Answered(now, rapid.SampledFrom([]time.Duration{1, rtt, time.Second}).Draw(t, "rtt"))
				heard, due = now, false
			},
			"heard": func(*rapid.T) { heard = now },
			"woke":  func(*rapid.T) { m.Woke(now) },
			"use":   func(*rapid.T) { used = !used },
			"urge":  func(*rapid.T) { m.Urge() },
			"time": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.Int64Range(1, int64(2*IdleEvery)).Draw(t, "time")))
			},
			"": func(t *rapid.T) {
				a = m.Look(now, domain.Vitals{RTT: rtt, Heard: heard}, used)
				require.False(t, a.Ask && due, "asked once")
				due = due || a.Ask
				if !up {
					require.Equal(t, Advice{}, a)
					require.NotContains(t, []domain.LinkState{domain.LinkConnected, domain.LinkSlow, domain.LinkSilent}, m.State())
					return
				}
				require.Contains(t, []domain.LinkState{domain.LinkConnected, domain.LinkSlow, domain.LinkSilent}, m.State())
				require.True(t, a.Next.IsZero() || a.Next.After(now))
				require.False(t, a.Beside && !used)
				require.False(t, a.GiveUp && used)
				require.True(t, due || !a.Next.IsZero(), "it is looked at again")
				if m.State() == domain.LinkSilent {
					require.GreaterOrEqual(t, now.Sub(heard), SilentAfter, "what was heard lately is no silence")
					require.True(t, a.Beside || a.GiveUp || !a.Next.IsZero(), "something is done")
				}
			},
		})
	})
}
