package wake

import (
	"errors"
	"math"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/ports"
)

// Watch tells of this machine's sleep. Any goroutine may call its methods.
type Watch struct {
	woke   chan struct{} // holds one note for any number
	timer  *os.File      // nil: the kernel does not tell
	joined sync.WaitGroup
}

var _ ports.Sleep = (*Watch)(nil)

// New begins to watch. Where the kernel does not tell, Slept alone does.
func New() *Watch {
	w := &Watch{woke: make(chan struct{}, 1)}
	fd, err := unix.TimerfdCreate(unix.CLOCK_REALTIME, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil || arm(fd) != nil {
		if err == nil {
			_ = unix.Close(fd)
		}
		return w
	}
	w.timer = os.NewFile(uintptr(fd), "timer")
	w.joined.Go(func() { w.listen(w.timer) })
	return w
}

// arm sets a timer to a time that is far away. Its reads fail once the clock is set, as it is when the machine wakes up.
func arm(fd int) error {
	far := unix.ItimerSpec{Value: unix.Timespec{Sec: math.MaxInt32}}
	return unix.TimerfdSettime(fd, unix.TFD_TIMER_ABSTIME|unix.TFD_TIMER_CANCEL_ON_SET, &far, nil)
}

// listen passes the kernel's word on until timer fails otherwise.
func (w *Watch) listen(timer interface{ Read(p []byte) (int, error) }) {
	var count [8]byte
	for {
		if _, err := timer.Read(count[:]); !errors.Is(err, unix.ECANCELED) {
			return
		}
		select {
		case w.woke <- struct{}{}:
		default:
		}
	}
}

// Woke implements ports.Sleep.
func (w *Watch) Woke() <-chan struct{} { return w.woke }

// Slept implements ports.Sleep.
func (w *Watch) Slept() time.Duration {
	var boot, mono unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC, &mono) != nil {
		return 0
	}
	return time.Duration(boot.Nano() - mono.Nano())
}

// Close ends the watching.
func (w *Watch) Close() error {
	if w.timer == nil {
		return nil
	}
	err := w.timer.Close()
	w.joined.Wait()
	return err
}
