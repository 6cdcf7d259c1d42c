package main

import (
	"context"
	"os"
	"strconv"
	"time"

	"github.com/vev-term/vev/internal/adapters/tty"
	"github.com/vev-term/vev/internal/app/client"
	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/render"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/talk"
)

// attach attaches this terminal to a session of host as a says and ends with the program's status, if that is how
// it was over.
func (c *cli) attach(ctx context.Context, host domain.Host, a *protocol.Attach, l looks) error {
	if err := mayAttach(host, a, l.nest); err != nil {
		return err
	}
	if !tty.IsTerminal(c.in) || !tty.IsTerminal(c.stdout) {
		return fault.New(fault.Usage, "%s needs a terminal on standard input and output", l.verb()).
			WithHint("without one use vev new -d, vev send, vev capture and vev wait")
	}
	if err := mayDraw(os.Getenv); err != nil {
		return err
	}
	settings, err := userConfig()
	if err != nil {
		return err
	}
	l.settle(settings)
	a.Origin = origin()
	if host.Local() {
		a.Agent = os.Getenv(talk.EnvAgent)
	}
	way := c.attachDialer(host, a)
	var ahead *protocol.Attach
	if !host.Local() || a.Create == nil && !a.Take {
		said := *a
		if said.Size, err = tty.SizeOf(c.in); err != nil {
			said.Size = domain.DefaultSize // what it is really is told when it can be known
		}
		if !host.Local() && a.Create == nil {
			said.Origin.Terminal = "" // of the environment, which no command line may show: it is told behind that
		}
		ahead = &said
	} // else the terminal comes first: without one nothing is made and nobody is detached
	dialer := dialAhead(ctx, way, ahead)
	if !host.Local() {
		dialer.wait() // the terminal is free for questions
	}
	terminal, err := tty.Open()
	if err != nil {
		dialer.drop()
		return err
	}
	code := time.AfterFunc(codeIdle, releaseCode)
	defer code.Stop()
	result, err := client.Run(ctx, client.Options{
		Terminal: terminal, Dialer: dialer, Far: !host.Local(), Attach: *a, Capabilities: terminalEnvironment().Capabilities(),
		Predict: l.predict.Mode,
		Leader:  settings.Leader, Mouse: settings.Mouse, Copier: copier(settings), Prefetch: settings.AttachHistory,
		Inline: l.inline && !l.watch, Above: settings.AttachHistory, Watch: l.watch,
		Asker: way.asker,
	})
	if talk.IsNoDaemon(err) {
		return talk.NoSession(domain.Address{Host: host, Name: a.Session})
	}
	if err != nil && way.denied {
		err = fault.Wrap(fault.Denied, err, "contact was lost, and ssh is not let in any more").
			WithHint("the session goes on; vev attach %s asks what ssh wants to know", domain.Address{Host: host, Name: a.Session})
	}
	if err != nil {
		return talk.At(host, err)
	}
	return c.over(domain.Address{Host: host, Name: result.Name}, result)
}

// mayDraw refuses a terminal that cannot move its cursor. TERM=dumb may be a wrong name, so the terminal is asked.
func mayDraw(getenv func(string) string) error {
	if getenv("TERM") != "dumb" {
		return nil
	}
	able, err := tty.Answers()
	if err == nil && !able {
		err = fault.New(fault.Unsupported, "this terminal cannot move its cursor (TERM=dumb), so a session cannot be drawn here").
			WithHint("use vev send, vev capture and vev wait; if it can after all: TERM=vt100 vev attach")
	}
	return err
}

// terminalEnvironment is what this process was told of its terminal.
func terminalEnvironment() render.Environment {
	return render.Environment{
		Term: os.Getenv("TERM"), ColorTerm: os.Getenv("COLORTERM"), NoColor: os.Getenv("NO_COLOR"), Tmux: os.Getenv("TMUX"),
		XTerm: os.Getenv("XTERM_VERSION"),
	}
}

// origin says where this client runs. What is too long is left out.
func origin() domain.Origin {
	o := domain.Origin{Terminal: os.Getenv("TERM"), Pid: os.Getpid()}
	if program := os.Getenv("TERM_PROGRAM"); program != "" {
		o.Terminal += " (" + program + ")"
	}
	o.Host, _ = os.Hostname() // it is for people to see, and may be missing
	for _, text := range []*string{&o.Terminal, &o.Host} {
		if *text = fault.Clean(*text); len(*text) > protocol.MaxHostBytes {
			*text = ""
		}
	}
	return o
}

// mayAttach refuses to put a session inside a session by mistake, and a session inside itself
// at all: it would show itself without end.
func mayAttach(host domain.Host, a *protocol.Attach, nest bool) error {
	inside, name := surroundingSession(), os.Getenv(envSession)
	switch {
	case inside == "":
		return nil
	case !nest:
		return fault.New(fault.Usage, "this is inside session %q already", name).
			WithHint("detach first with Ctrl-\\ d; or attach inside it with --nest, an option of vev new and vev attach")
	case !host.Local():
		return nil
	case a.Create == nil && a.Session == "":
		return fault.New(fault.Usage, "attach: which session? the one used last may be this one").
			WithHint("vev attach --nest NAME")
	case a.Session != "" && (a.Session == inside || a.Session == name):
		return fault.New(fault.Usage, "session %q cannot be attached inside itself", name).
			WithHint("vev new --nest makes another")
	}
	return nil
}

// attachDialer starts a daemon for the first conversation if that may make a session, and asks for
// it what ssh wants to know. Later ones resume: a daemon that is gone took the session with it, and
// the terminal shows the session, over which the asker asks, but only what must be known to be let in.
func (c *cli) attachDialer(host domain.Host, a *protocol.Attach) *firstStarts {
	start := protocol.ExistingOnly
	if a.Create != nil {
		start = protocol.StartIfNeeded
	}
	d := &firstStarts{first: c.asking(host, start), later: dialer(host, protocol.ExistingOnly)}
	if !host.Local() {
		d.asker = client.NewAsker()
		asks := dialer(host, protocol.ExistingOnly)
		asks.Person = d.asker.Ask
		d.asks = asks
	}
	return d
}

// firstStarts dials with first until that has succeeded, with later from then on, and where that is denied with asks: who
// is asked is not asked again and again. It is for one goroutine at a time.
type firstStarts struct {
	first, later ports.SayingDialer
	asks         ports.SayingDialer // who asks the asker; nil: nobody is asked
	asker        *client.Asker
	begun        bool
	denied       bool // the last of the later ones was, or nobody answered
}

func (d *firstStarts) Dial(ctx context.Context) (ports.SessionClientConn, error) {
	return d.DialSaying(ctx, nil)
}

func (d *firstStarts) DialSaying(ctx context.Context, m protocol.SessionClientMessage) (ports.SessionClientConn, error) {
	if d.begun {
		conn, err := d.later.DialSaying(ctx, m)
		if d.denied = fault.KindOf(err) == fault.Denied && err != nil; d.denied && d.asks != nil {
			conn, err = d.asks.DialSaying(ctx, m)
			d.denied = err != nil && (fault.KindOf(err) == fault.Denied || fault.KindOf(err) == fault.Canceled)
		}
		return conn, err
	}
	conn, err := d.first.DialSaying(ctx, m)
	d.begun = err == nil
	return conn, err
}

// ahead is a dialer whose first conversation is begun while the terminal is opened: each takes
// a third of a millisecond. It is for one goroutine at a time.
type ahead struct {
	ports.SayingDialer
	said   *protocol.Attach // on the first conversation; nil: nothing yet
	first  chan dialled     // nil once taken
	giveUp context.CancelFunc
}

type dialled struct {
	conn ports.SessionClientConn
	err  error
}

// dialAhead begins to dial, and says what is not nil. The goroutine ends with the first Dial, or with drop.
func dialAhead(ctx context.Context, dialer ports.SayingDialer, say *protocol.Attach) *ahead {
	ctx, cancel := context.WithCancel(ctx)
	d := &ahead{SayingDialer: dialer, said: say, first: make(chan dialled, 1), giveUp: cancel}
	go func() {
		var r dialled
		if say == nil {
			r.conn, r.err = dialer.Dial(ctx)
		} else {
			r.conn, r.err = dialer.DialSaying(ctx, say)
		}
		d.first <- r
	}()
	return d
}

// DialSaying implements ports.SayingDialer. Of what was said ahead the size may be another one by now, and the terminal may not
// have been named.
func (d *ahead) DialSaying(ctx context.Context, m protocol.SessionClientMessage) (ports.SessionClientConn, error) {
	if d.first == nil {
		return d.SayingDialer.DialSaying(ctx, m)
	}
	conn, err := d.Dial(ctx)
	attach, ok := m.(*protocol.Attach)
	switch {
	case err != nil:
		return nil, err
	case d.said == nil:
		err = conn.Send(m)
	case ok && (attach.Size != d.said.Size || attach.Origin != d.said.Origin):
		err = conn.Send(&protocol.Resize{Size: attach.Size, Terminal: attach.Origin.Terminal})
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

func (d *ahead) Dial(ctx context.Context) (ports.SessionClientConn, error) {
	if d.first == nil {
		return d.SayingDialer.Dial(ctx)
	}
	defer func() { d.first = nil }()
	defer d.giveUp()
	select {
	case r := <-d.first:
		return r.conn, r.err
	case <-ctx.Done():
		d.drop()
		return nil, fault.Wrap(fault.Canceled, context.Cause(ctx), "the attach was given up")
	}
}

// wait waits until the first conversation is there, or failed.
func (d *ahead) wait() {
	r := <-d.first
	d.first <- r
}

// drop gives up what was begun and waits for its end.
func (d *ahead) drop() {
	d.giveUp()
	if r := <-d.first; r.conn != nil {
		_ = r.conn.Close()
	}
}

// over says how an attachment ended, unless the program's status says it all.
func (c *cli) over(a domain.Address, r client.Result) error {
	switch r.Reason {
	case protocol.EndExited:
		// A program that ended well leaves the terminal as it was found.
		if code := r.Exit.ShellCode(); code != 0 {
			c.say("session " + a.String() + " ended: " + r.Exit.String())
			return exitStatus(code)
		}
	case protocol.EndDetached:
		c.say("detached from session " + a.String())
	case protocol.EndTaken:
		c.say("detached from session " + a.String() + ": taken by another client")
	case protocol.EndKilled:
		return fault.New(fault.Conflict, "session %q was killed", a.String())
	default:
		return fault.New(fault.Violation, "the attachment ended for the unknown reason %s", strconv.Itoa(int(r.Reason)))
	}
	return nil
}
