package client

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/protocol"
)

const (
	lostNoticeAfter = 300 * time.Millisecond // a shorter interruption is not worth a word
	// borderNoticeAfter is how long a border must be there to be explained: after a resize it is until the program knows.
	borderNoticeAfter = time.Second
	// noContactAfter is the shortest silence that is said. Until then a link is slow: another way is being made.
	noContactAfter = 3 * time.Second
	slowRTT        = 300 * time.Millisecond // a shorter round trip is not what makes a link slow: an answer is late
	briefNotice    = 3 * time.Second        // how long a notice without an end of its own stays
)

// keysNotice says what is shown about the leader key.
type keysNotice uint8

const (
	keysNone keysNotice = iota
	keysAwaited
	keysHelp
)

// notices is what the client has to tell its user over the session's screen. Whoever knows something sets it, which
// never waits; the tender paints it and takes it away when it is due.
type notices struct {
	leader  string        // how the leader key is written
	wake    chan struct{} // cap 1: something changed
	version atomic.Uint64 // of what lines returns

	mu       sync.Mutex // a leaf
	keys     keysNotice
	brief    string
	briefEnd time.Time
	why      string            // there is a border; empty: none
	policy   domain.SizePolicy // that it comes from
	whyAt    time.Time         // when that is to be told; zero: it was
	lost     time.Time         // since when there is no conversation; zero: there is one
	lostFor  time.Duration     // in whole seconds, as it is told; negative: not long enough to be told
	silent   time.Duration     // not heard for so long though a word is due; 0: not worth one
	waiting  int               // keys that the daemon does not have
	under    domain.LinkState  // of the link to another machine, as the broker says
	underRTT time.Duration     // its round trip, 0: not known
	heardAt  time.Time         // when it was heard last
	unheard  time.Duration     // since then, in whole seconds, as it is told
	question string            // that waits for an answer; empty: none
}

func newNotices(leader byte) *notices {
	return &notices{leader: keyName(leader), wake: make(chan struct{}, 1)}
}

// keyName writes a control byte as its keys.
func keyName(b byte) string { return "Ctrl-" + strings.ToLower(string(rune(b|0x40))) }

// changed is called with mu held, after a change of what is shown or due.
func (n *notices) changed() {
	n.version.Add(1)
	signal(n.wake)
}

func (n *notices) setKeys(k keysNotice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.keys != k {
		n.keys = k
		n.changed()
	}
}

// say shows one line for a while.
func (n *notices) say(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.brief, n.briefEnd = fmt.Sprintf(format, args...), time.Now().Add(briefNotice)
	n.changed()
}

// border tells why there is a border, empty for none: once as long as there is one for the same policy.
func (n *notices) border(why string, policy domain.SizePolicy) {
	n.mu.Lock()
	defer n.mu.Unlock()
	news := why != "" && (n.why == "" || n.policy != policy)
	switch {
	case why == "":
		n.whyAt = time.Time{}
	case news:
		n.whyAt = time.Now().Add(borderNoticeAfter)
		signal(n.wake)
	}
	n.why, n.policy = why, policy
}

// disconnected starts the wait for the reconnecting notice.
func (n *notices) disconnected() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lost.IsZero() {
		n.lost, n.lostFor = time.Now(), -1
		n.changed()
	}
}

func (n *notices) connected() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.under = domain.LinkConnected
	if !n.lost.IsZero() {
		n.lost = time.Time{}
		n.changed()
	}
}

// reported takes what the broker says of the link to another machine.
func (n *notices) reported(r protocol.LinkReport, now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.under, n.underRTT, n.heardAt = r.State, r.RTT, now.Add(-r.Silent)
	n.unheard = r.Silent.Truncate(time.Second)
	n.changed()
}

// silentLink reports whether the broker does not hear the other machine.
func (n *notices) silentLink() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.under == domain.LinkSilent
}

// tick does what is due and returns when something will be, the zero time when nothing will.
func (n *notices) tick(now time.Time) (next time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.whyAt.IsZero() && !now.Before(n.whyAt) {
		n.brief, n.briefEnd, n.whyAt = n.why, now.Add(briefNotice), time.Time{}
		n.version.Add(1)
	}
	next = n.whyAt
	if n.brief != "" {
		if now.Before(n.briefEnd) {
			next = earlier(next, n.briefEnd)
		} else {
			n.brief = ""
			n.version.Add(1)
		}
	}
	if !n.lost.IsZero() {
		at := n.lost.Add(lostNoticeAfter)
		if !now.Before(at) {
			lost := now.Sub(n.lost).Truncate(time.Second)
			if lost != n.lostFor {
				n.lostFor = lost
				n.version.Add(1)
			}
			at = n.lost.Add(lost + time.Second)
		}
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	if n.under == domain.LinkSilent {
		if unheard := now.Sub(n.heardAt).Truncate(time.Second); unheard != n.unheard {
			n.unheard = unheard
			n.version.Add(1)
		}
		next = earlier(next, n.heardAt.Add(n.unheard+time.Second))
	}
	return next
}

// reconnecting reports whether there is no conversation.
func (n *notices) reconnecting() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.lost.IsZero()
}

// waits tells for how long the daemon was not heard, 0 if that is not worth a word, and how many keys it does not have.
func (n *notices) waits(silent time.Duration, keys int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.silent != silent || n.waiting != keys {
		n.silent, n.waiting = silent, keys
		n.version.Add(1)
	}
}

// contactLine says what is wrong with the link and what becomes of what is typed; empty when nothing is. The caller
// holds mu.
func (n *notices) contactLine() string {
	var what string
	switch {
	case n.silent >= noContactAfter: // also while another connection is tried because of it
		what = fmt.Sprintf("no contact for %d s", n.silent/time.Second)
	case n.silent == 0 && !n.lost.IsZero() && n.lostFor > 0:
		what = fmt.Sprintf("reconnecting for %d s", n.lostFor/time.Second)
	case n.silent == 0 && !n.lost.IsZero() && n.lostFor == 0:
		what = "connection lost, reconnecting"
	case n.under == domain.LinkSilent:
		what = fmt.Sprintf("no contact for %d s", n.unheard/time.Second)
	case n.under == domain.LinkSlow && n.underRTT >= slowRTT:
		return fmt.Sprintf("slow link: %d ms there and back", n.underRTT.Milliseconds())
	case n.under == domain.LinkSlow:
		return "slow link"
	default:
		return ""
	}
	switch n.waiting {
	case 0:
		what += ": keys are held and sent once"
	case 1:
		what += ": 1 key waits and arrives then"
	case countedKeys:
		what += fmt.Sprintf(": %d keys or more wait and arrive then", n.waiting)
	default:
		what += fmt.Sprintf(": %d keys wait and arrive then", n.waiting)
	}
	return what + " (" + n.leader + " d detaches)"
}

// ask shows a question until the next one; empty: none.
func (n *notices) ask(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.question != text {
		n.question = text
		n.changed()
	}
}

// folded cuts text into lines of at most cols characters.
func folded(text string, cols int) (lines []string) {
	for all := []rune(text); len(all) > 0; {
		n := min(max(cols, 1), len(all))
		lines = append(lines, string(all[:n]))
		all = all[n:]
	}
	return lines
}

// lines is what is to be shown now, from top to bottom, in cols columns, and its version.
func (n *notices) lines(cols int) (lines []string, version uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.keys == keysHelp {
		lines = append(lines,
			n.leader+" d    detach: the session goes on, vev attach comes back",
			n.leader+" [    scroll mode: / ? search, v select, y copy, q leaves",
			n.leader+" z    suspend this client, fg comes back",
			n.leader+" "+n.leader+"    send one "+n.leader+" to the program",
			n.leader+" ?    show these keys")
	}
	if line := n.contactLine(); line != "" {
		lines = append(lines, line)
	}
	switch {
	case n.keys == keysAwaited:
		lines = append(lines, n.leader+": d detach, [ scroll, z suspend, "+n.leader+" send one, ? help, Esc cancel")
	case n.brief != "":
		lines = append(lines, n.brief)
	}
	lines = append(lines, folded(n.question, cols-2)...)
	return lines, n.version.Load()
}
