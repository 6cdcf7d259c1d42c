//go:build linux

package netlab

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Host is one end of the link: a network namespace. Any goroutine may call its methods.
type Host struct {
	Addr netip.Addr
	ns   int // descriptor of the namespace
	tun  int // the link's end of its device
}

const (
	device    = "link0"
	prefix    = 24
	mtu       = 1500
	queueLen  = 10000 // of the device: what waits for the shaper's thread
	noRoot    = "network namespaces take root: run this as root"
	noTUN     = "/dev/net/tun cannot be used: load the tun module, or give the container that device and CAP_NET_ADMIN"
	congested = "cubic" // what most machines use, and what mosh and ssh are usually compared over
)

// newHost makes a namespace with its end of the link up.
func newHost(addr netip.Addr) (*Host, error) {
	h := &Host{Addr: addr, ns: -1, tun: -1}
	err := onThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("%w: %s", err, noRoot)
		}
		var err error
		if h.ns, err = unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
			return err
		}
		if h.tun, err = unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0); err != nil {
			return fmt.Errorf("%w: %s", err, noTUN)
		}
		return configure(h.tun, addr)
	})
	if err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

func (h *Host) close() {
	for _, fd := range []int{h.ns, h.tun} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

// Do runs f in the host's network: sockets that it makes and processes that it starts are there.
// f must not leave that to another goroutine.
func (h *Host) Do(f func() error) error {
	return onThread(func() error {
		if err := unix.Setns(h.ns, unix.CLONE_NEWNET); err != nil {
			return err
		}
		return f()
	})
}

// Start starts a process on the host.
func (h *Host) Start(cmd *exec.Cmd) error { return h.Do(cmd.Start) }

// Readdress gives the host another address on the link, in place of the one it has. Connections that were made from that
// one are not moved.
func (h *Host) Readdress(addr netip.Addr) error {
	return errors.Join(
		h.change(unix.SIOCSIFADDR, func(r *request) { r.address(addr.As4()) }),
		h.change(unix.SIOCSIFNETMASK, func(r *request) { r.address([4]byte(net.CIDRMask(prefix, 32))) }),
	)
}

// SetUp takes the host's end of the link down, and with it what leads there, or brings it up again.
func (h *Host) SetUp(up bool) error {
	return h.change(unix.SIOCSIFFLAGS, func(r *request) {
		if up {
			r.flags(unix.IFF_UP)
		}
	})
}

// change changes something of the host's device.
func (h *Host) change(ioctl uintptr, set func(*request)) error {
	return h.Do(func() error {
		socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(socket)
		r := newRequest(device)
		set(r)
		return r.do(socket, ioctl)
	})
}

// Listen listens on a TCP port of the host; 0: any.
func (h *Host) Listen(port uint16) (l net.Listener, err error) {
	err = h.Do(func() error {
		l, err = net.Listen("tcp4", netip.AddrPortFrom(h.Addr, port).String())
		return err
	})
	return l, err
}

// Dial connects to an address from the host.
func (h *Host) Dial(ctx context.Context, d net.Dialer, addr string) (c net.Conn, err error) {
	err = h.Do(func() error {
		c, err = d.DialContext(ctx, "tcp4", addr)
		return err
	})
	return c, err
}

// onThread runs f on a thread that is thrown away afterwards: its namespace is another.
func onThread(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
		done <- f()
	}()
	return <-done
}

// configure attaches the device to the descriptor and brings it and the loopback up, from
// within the namespace.
func configure(tun int, addr netip.Addr) error {
	ifr := newRequest(device)
	ifr.flags(unix.IFF_TUN | unix.IFF_NO_PI)
	if err := ifr.do(tun, unix.TUNSETIFF); err != nil {
		return fmt.Errorf("%w: %s", err, noTUN)
	}
	// Autoconfiguration would send packets of its own.
	_ = os.WriteFile("/proc/sys/net/ipv6/conf/"+device+"/disable_ipv6", []byte("1"), 0)
	// Only what the host allows can be chosen; else its default stays.
	_ = os.WriteFile("/proc/sys/net/ipv4/tcp_congestion_control", []byte(congested), 0)
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	mask := net.CIDRMask(prefix, 32)
	for _, step := range []struct {
		name  string
		set   func(*request)
		ioctl uintptr
	}{
		{device, func(r *request) { r.address(addr.As4()) }, unix.SIOCSIFADDR},
		{device, func(r *request) { r.address([4]byte(mask)) }, unix.SIOCSIFNETMASK},
		{device, func(r *request) { r.number(mtu) }, unix.SIOCSIFMTU},
		{device, func(r *request) { r.number(queueLen) }, unix.SIOCSIFTXQLEN},
		{device, func(r *request) { r.flags(unix.IFF_UP) }, unix.SIOCSIFFLAGS},
		{"lo", func(r *request) { r.flags(unix.IFF_UP) }, unix.SIOCSIFFLAGS},
	} {
		r := newRequest(step.name)
		step.set(r)
		if err := r.do(socket, step.ioctl); err != nil {
			return fmt.Errorf("configuring %s (ioctl %#x): %w", step.name, step.ioctl, err)
		}
	}
	return nil
}

// request is the kernel's struct ifreq: a name, and a union behind it.
type request [40]byte

func newRequest(name string) *request {
	r := new(request)
	copy(r[:unix.IFNAMSIZ-1], name)
	return r
}

func (r *request) flags(f uint16)  { binary.NativeEndian.PutUint16(r[unix.IFNAMSIZ:], f) }
func (r *request) number(n uint32) { binary.NativeEndian.PutUint32(r[unix.IFNAMSIZ:], n) }
func (r *request) address(a [4]byte) {
	r.flags(unix.AF_INET) // sa_family of a sockaddr_in
	copy(r[unix.IFNAMSIZ+4:], a[:])
}

func (r *request) do(fd int, ioctl uintptr) error {
	if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), ioctl, uintptr(unsafe.Pointer(r))); e != 0 {
		return e
	}
	return nil
}
