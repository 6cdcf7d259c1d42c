package predict

import (
	"time"

	"github.com/vev-term/vev/internal/domain/vt"
)

// Shown takes a state that t shows now: it has every effect of the input up to position echo, and none of that behind
// acked. Neither ever goes back.
func (p *Predictor) Shown(t *vt.Terminal, echo, acked uint64, now time.Time) {
	p.echo, p.acked = echo, acked
	switch {
	case p.disabled():
		return
	case len(p.flight) == 0:
		p.rest(t)
		return
	case p.passed(), !p.same(t):
		p.restart(t)
		p.lapsed = false
	default:
		p.settle(t, now)
	}
	p.guess()
	p.draw(t)
}

// rest looks whether the cursor stays while nothing is in flight.
func (p *Predictor) rest(t *vt.Terminal) {
	c := t.Cursor()
	if t != p.term || t.Modes().Alternate != p.alt || c.Row != p.restRow || c.Col != p.restCol {
		p.confirmed, p.lapsed = false, false
	}
}

// passed reports whether a break has had its effect, as far as anybody can know, and notes what that means for what is
// typed next.
func (p *Predictor) passed() bool {
	passed := false
	for _, k := range p.flight {
		if k.end > p.acked {
			break
		}
		if k.kind.breaks() {
			passed, p.fresh = true, p.fresh || k.kind == keyEnter
			p.push = true
		}
	}
	return passed
}

// same reports whether t is the screen that the base comes from, with the cursor's row in its place.
func (p *Predictor) same(t *vt.Terminal) bool {
	cols, rows := t.Size()
	return t == p.term && t.Generation() == p.gen && t.Modes().Alternate == p.alt &&
		cols == p.base.cols && rows == p.base.rows && t.Row(p.base.top).ID() == p.base.line[0].id
}

// restart begins an epoch on what t shows. It takes for granted that the effect of all acknowledged input is in: where
// that is wrong, no guess will agree with what comes, and another restart mends it; nothing is shown before.
func (p *Predictor) restart(t *vt.Terminal) {
	p.confirmed = false
	p.anchor(t, p.acked)
	p.stay(t)
}

// stay remembers the cursor for rest, if nothing is in flight any more.
func (p *Predictor) stay(t *vt.Terminal) {
	if len(p.flight) == 0 {
		c := t.Cursor()
		p.restRow, p.restCol = c.Row, c.Col
	}
}

// settle looks which prefix of the flight the state agrees with: at least the keys that echo covers, at most those that
// acked does; of several the longest.
func (p *Predictor) settle(t *vt.Terminal, now time.Time) {
	settled := 0
	for settled < len(p.flight) && p.flight[settled].end <= p.echo {
		settled++
	}
	best, how, cells := -1, matchNone, false
	p.page.copy(&p.base)
	still := p.page.compare(t) == matchAll
	for i := p.based; ; i++ {
		if i >= settled {
			switch m := p.page.compare(t); {
			case m == matchAll, m == matchKeys && (i == p.based || p.flight[i-1].end <= p.echo):
				best, how = i, m
			case m != matchNone:
				cells = true
			}
		}
		if i == len(p.flight) || p.flight[i].end > p.acked || !p.page.apply(&p.flight[i], p.push, p.origin) {
			break
		}
	}
	switch {
	case best >= 0:
		p.agree(t, settled, best, how, now)
	case p.echo < p.acked && (settled == 0 || cells):
		// The program is at work on input behind echo: the state may be half of what it draws.
	case still && (p.confirmed || p.lapsed):
		// Nothing has come of the keys. The program that echoed may be slow: they are guessed on, unseen.
		p.confirmed, p.lapsed = false, true
	default:
		p.lapsed = p.lapsed || p.confirmed
		p.restart(t)
	}
}

// agree makes the state the base: it shows the first best keys of the flight, and the first settled of them are answered.
func (p *Predictor) agree(t *vt.Terminal, settled, best int, how match, now time.Time) {
	from := p.from
	if best > p.based {
		from = p.flight[best-1].end
	}
	for _, k := range p.flight[:settled] {
		p.gauge.answered(now.Sub(k.at))
		if k.news && (k.kind != keyPrint && p.lapsed || k.kind == keyPrint && t.Row(k.row).Cells()[k.col].Rune() == k.r) {
			p.confirmed, p.lapsed, p.fresh = true, false, false
		}
	}
	if how == matchKeys {
		p.push = false
	}
	p.flight = append(p.flight[:0], p.flight[settled:]...)
	p.based = best - settled
	p.rebase(t, from)
	p.stay(t)
}
