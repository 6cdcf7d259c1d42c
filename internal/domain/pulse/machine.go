package pulse

import (
	"time"

	"github.com/vev-term/vev/internal/domain"
)

const (
	// BeatEvery is how long after an answer a link is asked again that somebody uses, IdleEvery one that is only kept.
	BeatEvery = 3 * time.Second
	IdleEvery = time.Minute
	// UrgeEvery is how often it is asked at most because something was sent over it: what is typed wants an answer.
	UrgeEvery = 500 * time.Millisecond
	// LateAfter is how long an answer may take on any link, DoubtAfter how long one that is used may hear nothing while an
	// answer is due before another is made beside it, SilentAfter how long before there is no contact. On a link with
	// longer round trips each is patienceFactor of its shortest.
	LateAfter      = 400 * time.Millisecond
	DoubtAfter     = time.Second
	SilentAfter    = 3 * time.Second
	patienceFactor = 4
	// WakeDoubtAfter is DoubtAfter once this machine has slept: the link is most likely gone.
	WakeDoubtAfter = 300 * time.Millisecond
	// MostDoubtAfter bounds DoubtAfter, which is doubled with each link that took a silent one's place and gave no answer in
	// time: links that are full look silent too, and are not the better for another one.
	MostDoubtAfter = 30 * time.Second

	// A link beside the silent one is sought again firstRetry after that failed, doubled each time up to lastRetry.
	firstRetry = time.Second
	lastRetry  = 30 * time.Second

	// samples is how many round trips are remembered; the shortest counts, as an answer can wait for more than the link.
	samples = 8
)

// Machine is the way to one host. The zero value knows of none.
type Machine struct {
	state   domain.LinkState
	up      bool // there is a link that new streams go over
	reached bool // there was one, ever

	// Of the link.
	due   time.Time // since when an answer is due; zero: none is
	asked time.Time // when the last answer came, or the link
	woke  bool      // this machine slept, and no answer came since
	urged bool      // something was sent since it was asked
	rtts  [samples]time.Duration
	heard int // how many answers came

	doubts int // links in a row that were left because they were silent

	retry   time.Duration // until the next search beside the link, after one that failed
	retryAt time.Time
}

// Advice is what is to be done now, and when Look wants to be called again.
type Advice struct {
	Ask    bool      // ask the other end; tell Answered
	Beside bool      // make another link, whichever hears something first counts; tell Up or Failed
	GiveUp bool      // nobody needs the link, and it does not answer: end it and tell Dropped
	Next   time.Time // zero: when something happens
}

// State is what a person is told.
func (m *Machine) State() domain.LinkState { return m.state }

// Reached reports whether there was a link, ever.
func (m *Machine) Reached() bool { return m.reached }

// Want is told that somebody waits for a link.
func (m *Machine) Want() {
	if m.up {
		return
	}
	m.state = domain.LinkConnecting
	if m.reached {
		m.state = domain.LinkReconnecting
	}
}

// Up is told of a link, which takes the place of the one there was.
func (m *Machine) Up(now time.Time) {
	doubts := m.doubts
	if m.up && !m.due.IsZero() {
		doubts++
	}
	*m = Machine{state: domain.LinkConnected, up: true, reached: true, asked: now, doubts: doubts}
}

// Ended is told that the link has ended by itself; wanted: somebody will ask for another.
func (m *Machine) Ended(wanted bool) {
	if !m.up {
		return
	}
	m.down(domain.LinkNone)
	if wanted {
		m.state = domain.LinkReconnecting
	}
}

// Dropped is told that the link was ended because nobody needs it.
func (m *Machine) Dropped() {
	if m.up {
		m.down(domain.LinkNone)
	}
}

func (m *Machine) down(state domain.LinkState) {
	*m = Machine{state: state, reached: m.reached, doubts: m.doubts}
}

// Failed is told that a search for a link ended without one. jitter is from 0 to 1: those who lost their links together
// do not come back together.
func (m *Machine) Failed(now time.Time, jitter float64) {
	if !m.up {
		m.state = domain.LinkGone
		return
	}
	m.retry = min(max(2*m.retry, firstRetry), lastRetry)
	m.retryAt = now.Add(m.retry/2 + time.Duration(jitter*float64(m.retry/2)))
}

// MayRetry reports whether a search beside the link may begin, after those that failed.
func (m *Machine) MayRetry(now time.Time) bool { return !now.Before(m.retryAt) }

// Left is told that nobody waits for a link any more that was being made.
func (m *Machine) Left() {
	if !m.up && m.state != domain.LinkGone {
		m.state = domain.LinkNone
	}
}

// Answered is told that the other end answered, and how long it took.
func (m *Machine) Answered(now time.Time, rtt time.Duration) {
	if !m.up {
		return
	}
	m.due, m.asked, m.woke = time.Time{}, now, false
	m.retry, m.retryAt = 0, time.Time{}
	m.rtts[m.heard%samples] = rtt
	m.heard++
	m.answersIn(rtt)
}

// answersIn says connected or slow.
func (m *Machine) answersIn(rtt time.Duration) {
	if rtt >= m.patience(LateAfter) {
		m.state = domain.LinkSlow
		return
	}
	m.state, m.doubts = domain.LinkConnected, 0
}

// Woke is told that this machine has slept: what was known of the link is old.
func (m *Machine) Woke(now time.Time) {
	if !m.up {
		return
	}
	m.woke = true
	m.retry, m.retryAt = 0, time.Time{}
	if !m.due.IsZero() {
		m.due = now
	}
}

// Urge is told that something was sent over the link, at least the first time since it was asked.
func (m *Machine) Urge() { m.urged = m.up }

// patience is least, or on a link with longer round trips a multiple of those.
func (m *Machine) patience(least time.Duration) time.Duration {
	shortest := time.Duration(0)
	for _, rtt := range m.rtts[:min(m.heard, samples)] {
		if shortest == 0 || rtt < shortest {
			shortest = rtt
		}
	}
	return max(least, patienceFactor*shortest)
}

// Look looks at the link's facts. used: streams go over it, or somebody waits for one.
func (m *Machine) Look(now time.Time, v domain.Vitals, used bool) (a Advice) {
	if !m.up {
		return a
	}
	if m.due.IsZero() {
		at := m.asked.Add(IdleEvery)
		if used {
			at = m.asked.Add(BeatEvery)
		}
		if m.urged {
			at = m.asked.Add(UrgeEvery)
		}
		if !m.woke && now.Before(at) {
			a.Next = at
			return a
		}
		m.due, m.urged, a.Ask = now, false, true
	}
	since := m.due
	if v.Heard.After(since) {
		since = v.Heard
	}
	late, doubt, silent := m.patience(LateAfter), m.patience(m.doubtAfter()), m.patience(SilentAfter)
	switch quiet := now.Sub(since); {
	case quiet >= silent:
		m.state = domain.LinkSilent
		a.GiveUp = !used
	case quiet >= late, m.state == domain.LinkSilent: // in contact again; the answer is still due
		m.state = domain.LinkSlow
	}
	beside := since.Add(doubt)
	if beside.Before(m.retryAt) {
		beside = m.retryAt
	}
	a.Beside = used && !now.Before(beside)
	for _, at := range []time.Time{since.Add(late), since.Add(silent), beside} {
		if at.After(now) && (a.Next.IsZero() || at.Before(a.Next)) && (used || !at.Equal(beside)) {
			a.Next = at
		}
	}
	return a
}

func (m *Machine) doubtAfter() time.Duration {
	if m.woke {
		return WakeDoubtAfter
	}
	doubt := DoubtAfter
	for range m.doubts {
		doubt = min(2*doubt, MostDoubtAfter)
	}
	return doubt
}
