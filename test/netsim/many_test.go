package netsim

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/adapters/sessionwire"
	"github.com/vev-term/vev/internal/app/client"
	"github.com/vev-term/vev/internal/app/daemon"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/predict"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/testkit/bubble"
	"github.com/vev-term/vev/internal/testkit/simnet"
)

// crowd is a run with several clients of one session, each on links of its own.
type crowd struct {
	Seed    uint64
	Size    domain.Size // that the session begins with
	Policy  domain.SizePolicy
	Members []member
	Acts    []memberAct
	Resizes bool // terminals change their size, so what is on the way is not looked at
}

type member struct {
	Size     domain.Size
	ReadOnly bool
	Plan     plan // links, features, brokers
}

type memberAct struct {
	act
	Who int
}

var crowdKinds = []string{
	"type", "type", "type", "type", "paste", "line", "lines", "paint", "flood", "clear",
	"near leaves", "far leaves", "cut up", "cut down", "down", "up", "stuck", "free", "slow", "fast",
	"policy", "focus", "detach", "take",
}

func drawCrowd(t *rapid.T, more ...string) crowd {
	size := func(name string) domain.Size {
		return domain.Size{Cols: rapid.IntRange(20, 60).Draw(t, name+" cols"), Rows: rapid.IntRange(3, 12).Draw(t, name+" rows")}
	}
	c := crowd{Seed: rapid.Uint64().Draw(t, "seed"), Size: size("session"), Resizes: len(more) > 0}
	c.Policy = domain.SizePolicy(rapid.IntRange(0, int(domain.SizeFixed)).Draw(t, "policy"))
	for i := range rapid.IntRange(2, 4).Draw(t, "members") {
		m := member{Size: size("member"), ReadOnly: i > 0 && rapid.IntRange(0, 3).Draw(t, "read-only") == 0}
		m.Plan = plan{Seed: c.Seed + uint64(100*i)}
		m.Plan.drawLinks(t)
		c.Members = append(c.Members, m)
	}
	for range rapid.IntRange(1, 40).Draw(t, "acts") {
		c.Acts = append(c.Acts, memberAct{
			act: drawAct(t, append(crowdKinds, more...)),
			Who: rapid.IntRange(0, len(c.Members)-1).Draw(t, "who"),
		})
	}
	return c
}

// seat is a member at its terminal.
type seat struct {
	*world
	member
	tty    *terminal
	name   rune // its first letter
	typed  []token
	gone   bool // it has left, or somebody took the session
	result chan error
}

// token is what was typed at once: a letter, again and again.
type token struct {
	letter rune
	n      int
}

const (
	letters  = 4 // of a member
	maxSeats = 6
)

// run is a crowd in virtual time; what was wrong, or "".
func (c crowd) run(t *testing.T) (problem string) {
	defer unlessLeft(&problem)
	bubble.Test(t, func(t *testing.T) {
		o := newOracle(c.Size)
		prog := &sluggish{program: newProgram(o)}
		d := daemon.New(daemon.Options{Programs: programs{prog}, Version: "test"})
		var seats []*seat
		for i, m := range c.Members {
			a := protocol.Attach{Session: "work"}
			if i == 0 {
				a.Create = &protocol.Create{Name: "work", Policy: c.Policy, Size: c.Size}
			}
			seats = append(seats, c.seat(d, o, i, m, a))
		}
		seats = c.play(seats, o, prog)
		for _, s := range seats {
			s.Plan.mend(s.world)
			s.tty.hold(false)
		}
		time.Sleep(settleTime)
		for range 12 { // who comes back late changes sizes, and each change is explained for a while
			if problem = c.verdict(seats, o, prog); problem == "" {
				break
			}
			time.Sleep(10 * time.Second)
		}
		for _, s := range seats {
			s.tty.look(nil)
			if !s.gone {
				s.tty.press("\x1cd")
			}
			// One that was taken the session from while it had no connection hears that its attachment is over.
			if err := <-s.result; err != nil && !(s.gone && fault.KindOf(err) == fault.NotFound) {
				s.wrong("client %c ended with %v", s.name, err)
			}
		}
		for _, s := range seats {
			s.close()
		}
		if left := leftBehind(); left != "" {
			seats[0].wrong("goroutines are left:\n%s", left)
		}
		for _, s := range seats {
			if problem == "" {
				problem = s.problem
			}
		}
	})
	return problem
}

// seat sets a member down, attached as a says.
func (c crowd) seat(d *daemon.Daemon, o *oracle, i int, m member, a protocol.Attach) *seat {
	s := &seat{member: m, world: m.Plan.world(d), name: 'a' + rune(letters*i), result: make(chan error, 1)}
	var check func(string)
	if !c.Resizes {
		check = func(screen string) {
			if !o.windowed(screen, m.Size) {
				s.wrong("client %c of %v was shown what is no part of a screen that the daemon had:\n%s\nit has:\n%s", s.name, m.Size, screen, o.now())
			}
		}
	}
	s.tty = newTerminal(m.Size, check)
	a.Size, a.ReadOnly = m.Size, m.ReadOnly
	go func() {
		_, err := client.Run(context.Background(), client.Options{Terminal: s.tty, Dialer: s.world, Predict: predict.Never, Attach: a})
		s.result <- err
	}()
	time.Sleep(3 * time.Second)
	return s
}

// play does what happens and returns who was there.
func (c crowd) play(seats []*seat, o *oracle, prog *sluggish) []*seat {
	time.Sleep(10 * time.Second)
	for _, s := range seats {
		s.Plan.worsen(s.world)
	}
	for i, a := range c.Acts {
		// No two acts, nor what follows from them after whole milliseconds, happen at once: what the oracle is given in an
		// instant it is given in the daemon's order.
		time.Sleep(a.After + time.Duration(11+i)*time.Microsecond)
		s := seats[a.Who]
		switch a.Kind {
		case "type":
			s.press(1)
		case "paste":
			s.press(2 + a.N)
		case "focus":
			s.tty.press("\x1b[I")
		case "policy":
			s.ask(&protocol.SetSize{Session: "work", Policy: domain.SizePolicy(a.N % (int(domain.SizeFixed) + 1)), Size: c.Size})
		case "detach":
			s.tty.press("\x1cd")
			s.gone = true
		case "take":
			if len(seats) == maxSeats {
				continue
			}
			for _, other := range seats {
				other.gone = true
			}
			taker := c.seat(s.d, o, len(seats), s.member, protocol.Attach{Session: "work", Take: true})
			taker.Plan.worsen(taker.world)
			seats = append(seats, taker)
		case "resize":
			s.tty.resize(domain.Size{Cols: 20 + a.N%41, Rows: 3 + a.N%10})
		default:
			if !prog.shows(i, a.act, c.Size.Rows) {
				s.Plan.disturb(s.world, s.tty, a.act)
			}
		}
	}
	return seats
}

// verdict is what is wrong after quiet.
func (c crowd) verdict(seats []*seat, o *oracle, prog *sluggish) string {
	for _, s := range seats {
		if s.gone {
			continue
		}
		if shows := s.tty.shows(); !o.windowedNow(shows, s.tty.now()) {
			return fmt.Sprintf("after quiet client %c of %v shows\n%s\nand the daemon has\n%s", s.name, s.tty.now(), shows, o.now())
		}
	}
	if has, now := c.captured(seats[0]), o.now(); has != now {
		return fmt.Sprintf("the test does not know what the daemon has: %s\nbut\n%s", has, now)
	}
	return applied(seats, prog.got())
}

// applied holds the input that the program got to what was typed: each client's once and in order, and no message within
// another's. Of a client that has left the last may be missing.
func applied(seats []*seat, got string) string {
	runs := map[*seat][]token{}
	for at, r := range got {
		s := seats[int(r-'a')/letters]
		list := runs[s]
		if n := len(list); n > 0 && list[n-1].letter == r && at > 0 && rune(got[at-1]) == r {
			list[n-1].n++
		} else {
			runs[s] = append(list, token{r, 1})
		}
	}
	for _, s := range seats {
		want, is := s.typed, runs[s]
		if s.gone {
			want = want[:min(len(want), len(is))]
		}
		if fmt.Sprint(want) != fmt.Sprint(is) {
			return fmt.Sprintf("client %c typed %v, the program got %v of it", s.name, s.typed, is)
		}
	}
	return ""
}

// press types a letter n times.
func (s *seat) press(n int) {
	if s.gone {
		return
	}
	t := token{s.name + rune(len(s.typed)%letters), n}
	s.tty.press(strings.Repeat(string(t.letter), n))
	if !s.ReadOnly {
		s.typed = append(s.typed, t)
	}
}

// ask has the daemon do something, on a conversation that no network disturbs.
func (s *seat) ask(body protocol.RequestBody) protocol.ResultBody {
	ours, theirs := simnet.Pipe(64 << 10)
	s.serve(theirs)
	conn, err := sessionwire.Client(context.Background(), ours, "test", protocol.FeatureNone)
	if err != nil {
		s.wrong("the daemon cannot be asked: %v", err)
		return nil
	}
	defer conn.Close()
	if err = conn.Send(&protocol.Request{ID: 1, Body: body}); err == nil {
		var m protocol.SessionServerMessage
		if m, err = conn.Receive(); err == nil {
			return m.(*protocol.Result).Body
		}
	}
	s.wrong("the daemon does not answer: %v", err)
	return nil
}

// captured is the daemon's screen.
func (c crowd) captured(s *seat) string {
	screen, ok := s.ask(&protocol.Capture{Session: "work"}).(*protocol.Captured)
	if !ok {
		return "nothing"
	}
	var rows []string
	for _, line := range screen.Lines.List[len(screen.Lines.List)-screen.Size.Rows:] {
		rows = append(rows, strings.TrimRight(line.Text, " "))
	}
	return strings.Join(rows, "\n")
}

// TestManyClients: of several clients, whatever their sizes, rights and links, each is shown parts of screens that the daemon
// had, after quiet of the one that it has; what each typed arrives once, in order and unmixed; no window is exceeded.
func TestManyClients(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := drawCrowd(rt)
		if problem := c.run(t); problem != "" {
			rt.Fatalf("%s\n%+v", problem, c)
		}
	})
}

// TestManyTerminalsThatChange: the same after quiet, while terminals change their sizes.
func TestManyTerminalsThatChange(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := drawCrowd(rt, "resize", "resize", "resize")
		if problem := c.run(t); problem != "" {
			rt.Fatalf("%s\n%+v", problem, c)
		}
	})
}
