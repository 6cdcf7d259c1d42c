package sshstdio

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
)

var _ ports.HostVisitor = (*Dialer)(nil)

// Locate implements ports.HostVisitor with what ssh -G says, which has the user's configuration applied.
func (d *Dialer) Locate(ctx context.Context, host domain.Host) (ports.Location, error) {
	path, err := lookSSH()
	if err != nil {
		return ports.Location{}, err
	}
	cmd := exec.CommandContext(ctx, path, append([]string{"-G"}, whither(host)...)...)
	cmd.Env = append(os.Environ(), d.Env...)
	cmd.WaitDelay = waitDelay
	var said tail
	cmd.Stderr = &said
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return ports.Location{}, fault.Wrap(fault.Timeout, context.Cause(ctx), "ssh -G does not end")
	}
	if err != nil {
		if lines := lastSaid(said.kept); lines != "" {
			return ports.Location{}, fault.New(fault.Usage, "ssh: %s", lines).WithHint("mend ssh's configuration; try: ssh -G %s", destination(host))
		}
		return ports.Location{}, fault.Wrap(fault.Unavailable, err, "ssh -G failed").WithHint("try: ssh -G %s", destination(host))
	}
	return location(out, host)
}

// location reads the output of ssh -G.
func location(out []byte, host domain.Host) (ports.Location, error) {
	at := ports.Location{Name: host.Name, Port: 22}
	for line := range bytes.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		switch key {
		case "hostname":
			at.Name = fault.Clean(value)
		case "port":
			port, err := strconv.ParseUint(value, 10, 16)
			if err != nil || port == 0 {
				return at, fault.New(fault.Usage, "ssh's configuration has port %q", fault.Clean(value))
			}
			at.Port = uint16(port)
		case "proxyjump", "proxycommand":
			if value != "" && value != "none" {
				at.Through = cmp.Or(at.Through, fault.Clean(value))
			}
		}
	}
	return at, nil
}

// Resolve implements ports.HostVisitor.
func (d *Dialer) Resolve(ctx context.Context, name string) ([]netip.Addr, error) {
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		kind := fault.Unavailable
		if ctx.Err() != nil {
			kind = fault.Timeout
		}
		reason := err
		if e, ok := errors.AsType[*net.DNSError](err); ok {
			reason = errors.New(e.Err)
		}
		return nil, fault.Wrap(kind, reason, "%s cannot be looked up", fault.Clean(name)).
			WithHint("check the name; HostName in ssh's configuration may say another")
	}
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	return slices.Compact(addrs), nil
}

// Knock implements ports.HostVisitor.
func (d *Dialer) Knock(ctx context.Context, at ports.Location) (netip.AddrPort, error) {
	var err error
	port := at.Port
	for _, addr := range at.Addrs {
		to := netip.AddrPortFrom(addr, port)
		var conn net.Conn
		if conn, err = new(net.Dialer).DialContext(ctx, "tcp", to.String()); err == nil {
			return to, conn.Close()
		}
	}
	switch {
	case ctx.Err() != nil:
		return netip.AddrPort{}, fault.Wrap(fault.Timeout, context.Cause(ctx), "port %d does not answer", port).
			WithHint("the machine is off, or something in between drops what is sent")
	case errors.Is(err, syscall.ECONNREFUSED):
		return netip.AddrPort{}, fault.New(fault.Unavailable, "port %d refuses connections", port).WithHint("no ssh server listens there; Port in ssh's configuration may say another")
	}
	if e, ok := errors.AsType[*net.OpError](err); ok {
		err = e.Err
	}
	return netip.AddrPort{}, fault.Wrap(fault.Unavailable, err, "port %d cannot be reached", port).WithHint("check the network, and whether the machine is on")
}
