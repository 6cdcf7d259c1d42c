package broker

import (
	"context"
	"sync"
	"time"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/protocol"
)

// Operate carries out an operation on the hosts, and finishes it: once, whatever happens. It returns at once. What reaches
// other machines is given up when the client has gone; a change that is being kept is not.
func (b *Broker) Operate(req ports.OperationRequest) {
	if !b.hosts.spawn(func() { b.operation(req) }) {
		req.Finish(errEnding())
	}
}

func (b *Broker) operation(req ports.OperationRequest) {
	ctx, cancel := context.WithCancel(b.hosts.end)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-req.Gone():
			cancel()
		case <-ctx.Done():
		}
	})
	req.Finish(b.operate(ctx, req))
	cancel()
	watch.Wait()
}

func (b *Broker) operate(ctx context.Context, req ports.OperationRequest) error {
	m := req.Mutation()
	switch m.Kind {
	case protocol.AddHost:
		return b.addHost(ctx, req)
	case protocol.RemoveHost:
		return b.changeHosts(req, func(s domain.Hosts) (domain.Hosts, error) { return s.Remove(s.Named(m.Host)) })
	case protocol.UpdateHostPolicy:
		return b.changeHosts(req, func(s domain.Hosts) (domain.Hosts, error) {
			return s.Update(s.Named(m.Host), policyOf(m))
		})
	case protocol.Reconcile:
		return b.reconcile(ctx, req)
	}
	return fault.New(fault.Unsupported, "this broker does not know operation %d", m.Kind)
}

// changeTimeout bounds waiting for another process that changes the hosts.
const changeTimeout = protocol.RequestTimeout

func (b *Broker) changeHosts(req ports.OperationRequest, change func(domain.Hosts) (domain.Hosts, error)) error {
	ctx, cancel := context.WithTimeout(context.Background(), changeTimeout)
	defer cancel()
	told := func(notice *fault.Error) { req.Progress(protocol.Progress{Failure: protocol.FailureOf(notice)}) }
	return b.members.change(ctx, told, change)
}

// policyOf is the policy that a mutation asks for; the domain says whether there is such a one.
func policyOf(m protocol.Mutation) domain.HostPolicy {
	return domain.HostPolicy{Transport: m.Transport, Start: m.Start}
}

func (b *Broker) addHost(ctx context.Context, req ports.OperationRequest) error {
	m := req.Mutation()
	address, err := domain.ParseHost(m.Host)
	if err != nil {
		return err
	}
	if m.Alias == "" {
		if m.Alias, err = domain.AliasOf(address); err != nil {
			return err
		}
	}
	added := domain.KnownHost{Alias: m.Alias, Address: address, Policy: policyOf(m), Added: time.Now()}
	add := func(s domain.Hosts) (domain.Hosts, error) { return s.Add(added) }
	if m.Install {
		if b.o.Visitor == nil {
			return noHost(m.Host)
		}
		if _, err := add(b.members.load()); err != nil {
			return err // before anybody goes there
		}
		c := check{b: b, req: req, to: target{named: m.Host, address: address.String(), host: address}}
		if err := c.visit(ctx, c.unlessOneWillDo); err != nil {
			return err
		}
	}
	return b.changeHosts(req, add)
}
