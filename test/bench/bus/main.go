package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"sync"
	"syscall"
	"time"
)

const (
	payloadBytes = 128
	minFrames    = 200
	warmFrames   = 100 // more than a buffer: queues are as large as they get
)

// counts are the numbers of subscribers; must is where streambus has to be mustRatio times as fast as NATS; what a
// delivery costs with most is shown beside it.
var counts = []int{1, must, most}

const (
	must      = 100
	most      = 10_000
	mustRatio = 3
)

func main() {
	runs := flag.Int("runs", 3, "rounds")
	deliveries := flag.Int("deliveries", 1_000_000, "frames times subscribers of one measurement")
	only := flag.String("only", "", "kinds whose names match `RE`, all without")
	flag.Parse()
	if err := run(*runs, *deliveries, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bus:", err)
		os.Exit(1)
	}
}

func run(runs, deliveries int, only string) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	t := new(table)
	for range runs {
		for _, k := range kinds {
			if !wanted.MatchString(k.name) {
				continue
			}
			for _, n := range counts {
				if k.most > 0 && n > k.most {
					continue
				}
				if err := measure(t, k, n, max(minFrames, deliveries/n/k.slower)); err != nil {
					return fmt.Errorf("%s, %d subscribers: %w", k.name, n, err)
				}
			}
		}
	}
	t.print(os.Stdout)
	if only != "" {
		return nil
	}
	return t.verdict(os.Stdout)
}

// receivers counts what arrives, for each subscriber by itself.
type receivers struct {
	frames int
	got    []int // by subscriber, each its reader's own
	all    sync.WaitGroup
}

func newReceivers(subscribers, frames int) *receivers {
	r := &receivers{frames: frames, got: make([]int, 8*subscribers)} // a cache line each
	r.all.Add(subscribers)
	return r
}

// add is called by the reader of subscriber i with each n frames it gets.
func (r *receivers) add(i, n int) {
	r.got[8*i] += n
	if r.got[8*i] == r.frames {
		r.all.Done()
	}
}

// patience is for a run that has lost a frame and would wait for ever.
const patience = 2 * time.Minute

func (r *receivers) wait() error {
	done := make(chan struct{})
	go func() { r.all.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-time.After(patience):
		return errors.New("frames are missing")
	}
}

func measure(t *table, k kind, subscribers, frames int) error {
	r := newReceivers(subscribers, warmFrames)
	b, err := k.start(subscribers, func(i, n int) { r.add(i, n) })
	if err != nil {
		return err
	}
	defer b.stop()
	if err := flood(b, r); err != nil {
		return err
	}
	r = newReceivers(subscribers, frames) // all readers wait: none looks at r
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	from, cpu := time.Now(), cpuTime()
	if err := flood(b, r); err != nil {
		return err
	}
	took, worked := time.Since(from), cpuTime()-cpu
	runtime.ReadMemStats(&after)
	t.add(k.name, fmt.Sprintf("%d: µs/frame", subscribers), took.Seconds()*1e6/float64(frames))
	t.add(k.name, fmt.Sprintf("%d: CPU ns/delivery", subscribers), worked.Seconds()*1e9/float64(frames)/float64(subscribers))
	t.add(k.name, fmt.Sprintf("%d: allocs/frame", subscribers), float64(after.Mallocs-before.Mallocs)/float64(frames))
	return nil
}

// cpuTime is what this process has used, which other work on the machine changes less than the time.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func flood(b bus, r *receivers) error {
	payload := make([]byte, payloadBytes)
	for range r.frames {
		if err := b.publish(payload); err != nil {
			return err
		}
	}
	if err := b.flush(); err != nil {
		return err
	}
	return r.wait()
}
