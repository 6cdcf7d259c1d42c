package netsim

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/app/client"
	"github.com/vev-term/vev/internal/app/daemon"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/predict"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

// act is one thing that happens.
type act struct {
	After time.Duration
	Kind  string
	N     int
}

// plan is a whole run: links, and what happens on them.
type plan struct {
	Seed       uint64
	Links      []simnet.Conditions
	Acts       []act
	Features   uint64
	Brokers    bool // stand between: what breaks are the links between them
	Predict    predict.Mode
	AnyPicture bool // pictures on the way are not looked at: predictions, and sizes that change, are the client's own
}

// kinds are drawn with their frequency.
var kinds = []string{
	"type", "type", "type", "paste", "line", "line", "lines", "paint", "flood", "clear",
	"near leaves", "far leaves", "cut up", "cut down", "down", "up", "stuck", "free", "slow", "fast",
}

func drawPlan(t *rapid.T, more ...string) plan {
	p := plan{Seed: rapid.Uint64().Draw(t, "seed")}
	p.drawLinks(t)
	for range rapid.IntRange(1, 40).Draw(t, "acts") {
		p.Acts = append(p.Acts, drawAct(t, append(kinds, more...)))
	}
	return p
}

func drawAct(t *rapid.T, kinds []string) act {
	return act{
		After: time.Duration(rapid.SampledFrom([]int{0, 0, 1, 20, 100, 300, 2000}).Draw(t, "after")) * time.Millisecond,
		Kind:  rapid.SampledFrom(kinds).Draw(t, "kind"),
		N:     rapid.IntRange(0, 3000).Draw(t, "n"),
	}
}

// drawLinks draws the way to the daemon.
func (p *plan) drawLinks(t *rapid.T) {
	for i := range rapid.IntRange(1, 3).Draw(t, "links") {
		ms := func(name string, most int) time.Duration {
			return time.Duration(rapid.IntRange(0, most).Draw(t, fmt.Sprintf("%s %d", name, i))) * time.Millisecond
		}
		p.Links = append(p.Links, simnet.Conditions{
			Delay: ms("delay", 300), Jitter: ms("jitter", 50),
			Loss:  float64(rapid.SampledFrom([]int{0, 0, 2, 20}).Draw(t, "loss")) / 100,
			Rate:  rapid.SampledFrom([]int64{0, 0, 100_000, 1_000_000}).Draw(t, "rate"),
			Queue: 30_000,
		})
	}
	p.Features = rapid.SampledFrom([]uint64{protocol.FeatureNone, protocol.FeaturePacked, protocol.FeaturePacked | protocol.FeatureSqueezed}).Draw(t, "features")
	p.Brokers = rapid.Bool().Draw(t, "brokers")
}

// world is the way to a daemon, easy until there is something that can be lost.
func (p plan) world(d *daemon.Daemon) *world {
	w := &world{d: d, features: p.Features}
	if p.Brokers {
		w.brokers = newBrokers(w, protocol.HandshakeTimeout)
	}
	for i, c := range p.Links {
		easy := simnet.Conditions{Delay: c.Delay}
		w.links = append(w.links, simnet.NewLink(p.Seed+uint64(i), easy, easy))
	}
	return w
}

// worsen makes the links what they are, mend takes loss and narrowness away.
func (p plan) worsen(w *world) {
	for i, l := range w.links {
		l.Set(p.Links[i], p.Links[i])
	}
}

func (p plan) mend(w *world) {
	for i, l := range w.links {
		c := p.Links[i]
		c.Loss, c.Rate = 0, 0
		l.Set(c, c)
	}
}

var simSize = domain.Size{Cols: 50, Rows: 8}

// run is a plan in virtual time; what was wrong, or "".
func (p plan) run(t *testing.T) (problem string) {
	defer unlessLeft(&problem)
	bubble.Test(t, func(t *testing.T) {
		o := newOracle(simSize)
		prog := newProgram(o)
		w := p.world(daemon.New(daemon.Options{Programs: programs{prog}, Version: "test"}))
		var check func(string)
		if !p.AnyPicture {
			check = func(screen string) {
				if !o.showed(screen) {
					w.wrong("a screen was shown that the daemon never had:\n%s\nit has:\n%s", screen, o.now())
				}
			}
		}
		tty := newTerminal(simSize, check)
		result := make(chan error, 1)
		go func() {
			_, err := client.Run(context.Background(), client.Options{
				Terminal: tty, Dialer: w, Predict: p.Predict,
				Attach: protocol.Attach{Create: &protocol.Create{Name: "work"}, Size: simSize},
			})
			result <- err
		}()
		typed := p.play(w, prog, tty)
		p.mend(w)
		tty.hold(false)
		time.Sleep(settleTime)
		shows, has := tty.shows(), w.has(tty.now())
		switch {
		case !p.AnyPicture && o.now() != has:
			w.wrong("the test does not know what the daemon has: %s\nbut\n%s", has, o.now())
		case prog.got() != typed:
			w.wrong("typed %q,\n the program got %q", typed, prog.got())
		case shows != has:
			w.wrong("after quiet the client shows\n%s\nand the daemon has\n%s", shows, has)
		}
		tty.look(nil) // the leader key is answered by a notice
		tty.press("\x1cd")
		if err := <-result; err != nil {
			w.wrong("the client ended with %v", err)
		}
		w.close()
		if left := leftBehind(); left != "" {
			w.wrong("goroutines are left:\n%s", left)
		}
		problem = w.problem
	})
	return problem
}

// play does what the plan says and returns what was typed.
func (p plan) play(w *world, prog *program, tty *terminal) (typed string) {
	time.Sleep(10 * time.Second)
	p.worsen(w)
	for i, a := range p.Acts {
		time.Sleep(a.After)
		switch a.Kind {
		case "type":
			keys := string(rune('a' + i%26))
			tty.press(keys)
			typed += keys
		case "paste":
			keys := strings.Repeat(string(rune('A'+i%26)), a.N)
			tty.press(keys)
			typed += keys
		case "resize":
			tty.resize(domain.Size{Cols: 20 + a.N%60, Rows: 3 + a.N%20})
		default:
			if !prog.shows(i, a, simSize.Rows) {
				p.disturb(w, tty, a)
			}
		}
	}
	return typed
}

// disturb is what the network and the user's terminal do.
func (p plan) disturb(w *world, tty *terminal, a act) {
	near, far := w.newest()
	switch a.Kind {
	case "near leaves": // what is under way still arrives, maybe after the next connection has begun
		near.Close()
	case "far leaves":
		far.Close()
	case "cut up":
		near.CutAfter(a.N)
	case "cut down":
		far.CutAfter(a.N)
	case "stuck":
		tty.hold(true)
	case "free":
		tty.hold(false)
	case "down", "up", "slow", "fast":
		for i, l := range w.links {
			c := p.Links[i]
			switch a.Kind {
			case "down":
				c.Down = true
			case "slow":
				c.Rate, c.Queue = 20_000, 10_000
			case "fast":
				c.Rate = 0
			}
			l.Set(c, c)
		}
	}
}

// TestWhateverTheNetworkDoes: every screen shown is one that the daemon had; after quiet both are equal; input arrives
// once and in order; no window is exceeded.
func TestWhateverTheNetworkDoes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt)
		p.Predict = predict.Never
		if problem := p.run(t); problem != "" {
			rt.Fatalf("%s\n%+v", problem, p)
		}
	})
}

// TestPredictionsAndSizesSettle: what the client shows ahead of the daemon, and in a size of its own, is gone after quiet.
func TestPredictionsAndSizesSettle(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPlan(rt, "resize", "resize")
		p.Predict = predict.Always
		p.AnyPicture = true
		if problem := p.run(t); problem != "" {
			rt.Fatalf("%s\n%+v", problem, p)
		}
	})
}
