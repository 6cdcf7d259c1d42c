//go:build linux

package netlab

import (
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/testkit/simnet"
)

// maxTurn is how many packets are taken before those that are due are delivered.
const maxTurn = 64

// direction carries packets from one host's device to the other's.
type direction struct {
	from, to, stop int

	// Owned by run.
	shaper  *simnet.Shaper
	flying  []packet // in the order they arrive
	buffers [][]byte

	mu    sync.Mutex // a leaf
	c     simnet.Conditions
	noUDP bool // as a firewall that drops it
	count Counters
}

type packet struct {
	due  time.Time
	data []byte
}

func newDirection(seed uint64, from, to, stop int, c simnet.Conditions) *direction {
	return &direction{from: from, to: to, stop: stop, shaper: simnet.NewShaper(seed), c: c}
}

func (d *direction) set(c simnet.Conditions) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.c = c
}

func (d *direction) blockUDP(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.noUDP = on
}

func (d *direction) counters() Counters {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count
}

// run carries packets until stop is told. It waits in ppoll, whose time-out is exact to the
// kernel's timer slack; the runtime's own timers are not. Its thread goes before all others: a
// link does not become slow because its ends are busy.
func (d *direction) run() {
	runtime.LockOSThread() // and never unlocked: the thread ends with its priority
	_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}, 0)
	for {
		d.deliver()
		if d.wait() {
			return
		}
		for range maxTurn {
			if !d.take() {
				break
			}
		}
	}
}

// deliver hands over every packet whose time has come.
func (d *direction) deliver() {
	now := time.Now()
	for len(d.flying) > 0 && !d.flying[0].due.After(now) {
		p := d.flying[0]
		d.flying = d.flying[1:]
		_, _ = unix.Write(d.to, p.data) // a full device drops it, as a real one does
		d.buffers = append(d.buffers, p.data[:mtu])
	}
}

// wait returns when a packet has come or is due, or true when told to stop.
func (d *direction) wait() (stopped bool) {
	var timeout *unix.Timespec
	if len(d.flying) > 0 {
		left := unix.NsecToTimespec(max(0, int64(time.Until(d.flying[0].due))))
		timeout = &left
	}
	polled := []unix.PollFd{{Fd: int32(d.from), Events: unix.POLLIN}, {Fd: int32(d.stop), Events: unix.POLLIN}}
	n, err := unix.Ppoll(polled, timeout, nil)
	return n > 0 && polled[1].Revents != 0 || err != nil && err != unix.EINTR
}

// take reads one packet and decides its fate; false: there is none.
func (d *direction) take() bool {
	buf := d.buffer()
	n, err := unix.Read(d.from, buf)
	if n <= 0 || err != nil {
		d.buffers = append(d.buffers, buf)
		return false
	}
	d.mu.Lock()
	due, fate := d.shaper.Admit(d.c, time.Now(), n)
	if d.noUDP && udp(buf[:n]) {
		fate = simnet.Lost
	}
	d.count.Packets++
	d.count.Bytes += int64(n)
	if fate != simnet.Arrives {
		d.count.Dropped++
	}
	d.mu.Unlock()
	if fate != simnet.Arrives {
		d.buffers = append(d.buffers, buf)
		return true
	}
	d.flying = append(d.flying, packet{due, buf[:n]})
	return true
}

// udp reports whether an IP packet is one of UDP (RFC 791 section 3.1).
func udp(packet []byte) bool {
	return len(packet) >= 20 && packet[0]>>4 == 4 && packet[9] == unix.IPPROTO_UDP
}

func (d *direction) buffer() []byte {
	if n := len(d.buffers); n > 0 {
		b := d.buffers[n-1]
		d.buffers = d.buffers[:n-1]
		return b
	}
	return make([]byte, mtu)
}
