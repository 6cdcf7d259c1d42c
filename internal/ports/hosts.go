package ports

import (
	"context"
	"net/netip"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// HostStore keeps the hosts that the user has added. Any goroutine may call its methods; other processes may
// change what it keeps.
type HostStore interface {
	// Load returns what is kept now. A notice that is not nil is for people: what was kept is damaged, and this
	// is the last that was good; it is given once.
	Load() (domain.Hosts, *fault.Error, error)
	// Change keeps what change makes of what is kept, as a whole or not at all, and returns it. Where change
	// fails nothing is changed, and its error is returned. A fault of kind Unknown: the new set may be kept or
	// not; of kind Timeout or Canceled: ctx ended while another process was at it.
	Change(ctx context.Context, change func(domain.Hosts) (domain.Hosts, error)) (domain.Hosts, *fault.Error, error)
}

// OperationRequest is an operation of a client on the broker's hosts, which waits for its one result.
type OperationRequest interface {
	Mutation() protocol.Mutation
	// Ask is how the client's person is asked, nil where there is none.
	Ask() Ask
	// Progress tells the client how far the operation has come; its id is set. It never waits, and may be
	// called by any goroutine until Finish.
	Progress(protocol.Progress)
	// Finish ends the operation: nil is ok, a fault of kind Unknown that the outcome is not known, every
	// other error that it failed. It is called once.
	Finish(err error)
	// Gone is closed when the client has gone: nobody waits for the result any more.
	Gone() <-chan struct{}
}

// Location is where ssh goes for a host.
type Location struct {
	Name    string // of the machine, or its address
	Port    uint16
	Through string // what ssh goes through to get there (a jump host, a command), or ""; then the name need not mean anything here
	Addrs   []netip.Addr
}

// RemoteVev is a vev on another machine.
type RemoteVev struct {
	Path                   string
	Version                string // "": it does not say, so it does not run there
	MinVersion, MaxVersion uint32 // of the protocol
}

// Survey is what a look at another machine told.
type Survey struct {
	System, Machine string     // as uname says: Linux, x86_64
	Program         *RemoteVev // the vev that links use there; nil: none
}

// Installation is what to install on another machine, and when.
type Installation struct {
	Program string // path of the vev that is copied, or whose neighbours are; "": that of this process
	// Wanted says, once the machine was looked at, whether anything is to be copied; its error ends the visit.
	Wanted func(Survey) (bool, error)
	// Copied is called now and then with how much was handed to ssh, of how much.
	Copied func(done, total int64)
}

// HostVisitor goes to a host outside of any link. Any goroutine may call its methods. Errors are faults as of
// LinkDialer.DialLink.
type HostVisitor interface {
	// Locate says where ssh goes for a host, without addresses. It asks nobody and reaches nothing.
	Locate(ctx context.Context, host domain.Host) (Location, error)
	// Resolve looks a location's name up: at least one address.
	Resolve(ctx context.Context, name string) ([]netip.Addr, error)
	// Knock connects to the first of the location's addresses that answers, and leaves at once.
	Knock(ctx context.Context, at Location) (netip.AddrPort, error)
	// Visit logs in and looks at the machine. With install it then copies a program there, if that is wanted, and
	// returns it: it is in place as a whole or not at all, and has run there. Unsupported: there is no program for
	// that machine. Unknown: it may be in place or not.
	Visit(ctx context.Context, host domain.Host, ask Ask, install *Installation) (Survey, *RemoteVev, error)
}
