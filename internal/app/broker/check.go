package broker

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// What the steps of a check may take. A person who is asked has protocol.PromptTimeout besides.
const (
	nameTimeout    = 5 * time.Second
	tcpTimeout     = 10 * time.Second
	sshTimeout     = 20 * time.Second
	installTimeout = 10 * time.Minute
	daemonTimeout  = protocol.HandshakeTimeout
	udpTimeout     = protocol.HandshakeTimeout
)

// reconcile goes to a host step by step and tells how each went. It ends with the first that fails, and fails as that did.
func (b *Broker) reconcile(ctx context.Context, req ports.OperationRequest) error {
	m := req.Mutation()
	to, err := b.members.resolve(m.Host)
	if err != nil {
		return err
	}
	if b.o.Visitor == nil || to.host.Local() {
		return noHost(m.Host)
	}
	c := check{b: b, req: req, to: to}
	if err := c.outside(ctx); err != nil {
		return err
	}
	var wanted func(ports.Survey) (bool, error)
	if m.Install {
		wanted = func(ports.Survey) (bool, error) { return true, nil }
	}
	if err := c.visit(ctx, wanted); err != nil {
		return err
	}
	if err := c.daemon(ctx); err != nil {
		return err
	}
	c.udp(ctx)
	return nil
}

// check is one way to a host.
type check struct {
	b   *Broker
	req ports.OperationRequest
	to  target
}

// step does one step, within its time, and tells how it went.
func (c *check) step(ctx context.Context, name string, most time.Duration, do func(ctx context.Context) (says string, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	begun := time.Now()
	says, err := do(ctx)
	c.tell(name, begun, says, err)
	return err
}

func (c *check) tell(name string, begun time.Time, says string, err error) {
	c.req.Progress(protocol.Progress{Step: name, Took: time.Since(begun), Text: says, Failure: protocol.FailureOf(err)})
}

// outside is what can be told without logging in. Where ssh goes through something, that is its configuration only.
func (c *check) outside(ctx context.Context) error {
	var at ports.Location
	err := c.step(ctx, protocol.StepName, nameTimeout, func(ctx context.Context) (says string, err error) {
		if at, err = c.b.o.Visitor.Locate(ctx, c.to.host); err != nil {
			return "", err
		}
		if at.Through != "" {
			return at.Name + ", through " + at.Through, nil
		}
		if at.Addrs, err = c.b.o.Visitor.Resolve(ctx, at.Name); err != nil {
			return "", err
		}
		if text := list(at.Addrs); text != at.Name {
			return at.Name + " is " + text, nil
		}
		return at.Name, nil
	})
	if err != nil || at.Through != "" {
		return err
	}
	return c.step(ctx, protocol.StepTCP, tcpTimeout, func(ctx context.Context) (string, error) {
		found, err := c.b.o.Visitor.Knock(ctx, at)
		return found.String() + " answers", err
	})
}

// maxListed is how many addresses are told.
const maxListed = 4

func list(addrs []netip.Addr) string {
	var b strings.Builder
	for i, a := range addrs {
		switch {
		case i == maxListed:
			return b.String() + " and others"
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString(a.String())
	}
	return b.String()
}

// visit logs in and looks which vev is there, after one was installed if wanted, which may be nil, says so.
func (c *check) visit(ctx context.Context, wanted func(ports.Survey) (bool, error)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := sshTimeout
	if c.req.Ask() != nil {
		limit += protocol.PromptTimeout
	}
	late := time.AfterFunc(limit, func() { cancel(context.DeadlineExceeded) })
	defer late.Stop()
	step, begun := protocol.StepSSH, time.Now()
	var install *ports.Installation
	if wanted != nil {
		install = &ports.Installation{Program: c.req.Mutation().Program, Copied: c.copied}
		install.Wanted = func(s ports.Survey) (bool, error) {
			c.tell(step, begun, machine(s), nil)
			step, begun = protocol.StepInstall, time.Now()
			late.Reset(installTimeout)
			return wanted(s)
		}
	}
	survey, program, err := c.b.o.Visitor.Visit(ctx, c.to.host, c.req.Ask(), install)
	switch {
	case err != nil:
		c.tell(step, begun, "", err)
		return err
	case step == protocol.StepSSH:
		c.tell(step, begun, machine(survey), nil)
	case program != nil:
		c.tell(step, begun, program.Path+" is this vev now", nil)
		survey.Program = program
	}
	begun = time.Now()
	err = c.willDo(survey.Program)
	says := ""
	if err == nil {
		says = fmt.Sprintf("vev %s, protocol %s, %s", survey.Program.Version, versions(survey.Program.MinVersion, survey.Program.MaxVersion), survey.Program.Path)
	}
	c.tell(protocol.StepVersion, begun, says, err)
	return err
}

func machine(s ports.Survey) string { return s.System + " on " + s.Machine }

func (c *check) copied(done, total int64) {
	c.req.Progress(protocol.Progress{Text: fmt.Sprintf("copied %d %% of %.1f MB", done*100/max(total, 1), float64(total)/1e6)})
}

// unlessOneWillDo wants a program where there is none that this vev can talk to.
func (c *check) unlessOneWillDo(s ports.Survey) (bool, error) {
	if c.willDo(s.Program) != nil {
		return true, nil
	}
	c.tell(protocol.StepInstall, time.Now(), "not needed", nil)
	return false, nil
}

// willDo says why this vev cannot talk to a program, nil if it can.
func (c *check) willDo(p *ports.RemoteVev) error {
	switch {
	case p == nil:
		return fault.New(fault.Unsupported, "there is no vev there, neither as ~/.local/bin/vev nor in PATH").
			WithHint("vev host install %s copies this one there", c.to.named)
	case p.Version == "":
		return fault.New(fault.Unsupported, "%s does not say which version it is: it may not run there", p.Path).
			WithHint("try: ssh %s %s version; vev host install %s copies this one there", c.to.address, p.Path, c.to.named)
	case p.MaxVersion >= protocol.MinVersion && p.MinVersion <= protocol.MaxVersion:
		return nil
	}
	err := fault.New(fault.Incompatible, "vev %s there speaks versions %s, this is vev %s with versions %s", p.Version,
		versions(p.MinVersion, p.MaxVersion), c.b.o.Version, versions(protocol.MinVersion, protocol.MaxVersion))
	if p.MinVersion > protocol.MaxVersion {
		return err.WithHint("this vev is older: upgrade it; vev host install %s would put this older one there", c.to.named)
	}
	return err.WithHint("vev host install %s puts this one there", c.to.named)
}

func versions(low, high uint32) string {
	if low == high {
		return fmt.Sprint(low)
	}
	return fmt.Sprintf("%d to %d", low, high)
}

// daemon asks for a stream to the daemon, as every command does, and starts none.
func (c *check) daemon(ctx context.Context) error {
	most := daemonTimeout
	if c.req.Ask() != nil {
		most += protocol.PromptTimeout
	}
	return c.step(ctx, protocol.StepDaemon, most, func(ctx context.Context) (string, error) {
		stream, err := c.b.hosts.open(ctx, wish{host: c.to.address, start: protocol.ExistingOnly, ask: c.req.Ask()})
		switch {
		case err == nil:
			return "one runs, reached over " + carried(c.b.hosts.link(c.to.address)), stream.Close()
		case fault.KindOf(err) == fault.NotFound:
			return "none runs; the first session there starts it", nil
		}
		return "", err
	})
}

// carried is a link in words.
func carried(l domain.HostLink) string {
	if l.RTT == 0 {
		return l.Transport.String()
	}
	return fmt.Sprintf("%s in %s", l.Transport, l.RTT.Round(rttUnit))
}

// rttUnit is what a round trip is told in.
const rttUnit = 100 * time.Microsecond

// udp makes a link over QUIC, unless one is in use or must not be. That it cannot be made is no failure of the whole: where QUIC
// alone is allowed the daemon was reached over it.
func (c *check) udp(ctx context.Context) {
	quic := c.b.o.Remote.QUIC
	if quic == nil || c.b.hosts.policy(c.to.address) == domain.TransportSSH {
		return
	}
	most := udpTimeout
	if c.req.Ask() != nil {
		most += protocol.PromptTimeout
	}
	_ = c.step(ctx, protocol.StepUDP, most, func(ctx context.Context) (string, error) {
		if l := c.b.hosts.link(c.to.address); l.State == domain.LinkConnected && l.Transport == domain.TransportQUIC {
			return "in use", nil
		}
		link, err := quic.DialLink(ctx, c.to.address, c.req.Ask())
		if err != nil {
			return "", err
		}
		return "QUIC gets through", link.Close()
	})
}
