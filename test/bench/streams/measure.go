package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	pings        = 5000
	floodPings   = 2000
	warmPings    = 200
	manyStreams  = 100
	floodForever = 1 << 60
)

// other is the server process.
type other struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	addr string
}

func start(k kind) (*other, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	o := &other{cmd: exec.Command(self, "-serve", k.name)}
	o.cmd.Stderr = os.Stderr
	if o.in, err = o.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := o.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := o.cmd.Start(); err != nil {
		return nil, err
	}
	o.out = bufio.NewReader(out)
	line, err := o.out.ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("the server did not start: %w", err)
	}
	o.addr = line[:len(line)-1]
	return o, nil
}

func (o *other) stop() error {
	o.in.Close()
	return o.cmd.Wait()
}

// usage is of both processes together.
func (o *other) usage() (usage, error) {
	fmt.Fprintln(o.in, "usage")
	line, err := o.out.ReadBytes('\n')
	if err != nil {
		return usage{}, err
	}
	var u usage
	if err := json.Unmarshal(line, &u); err != nil {
		return usage{}, err
	}
	m := usageNow()
	return usage{u.Mallocs + m.Mallocs, u.CPU + m.CPU}, nil
}

func (o *other) dial(k kind) (session, error) {
	switch {
	case k.dial != nil:
		return k.dial(o.addr)
	case k.ssh:
		return dialSSH(k)
	}
	c, err := net.Dial("unix", o.addr)
	if err != nil {
		return session{}, err
	}
	return k.client(c)
}

// measure adds one round of a kind to the table.
func measure(k kind, t *table, size int64) error {
	o, err := start(k)
	if err != nil {
		return err
	}
	defer o.stop()
	if err := measureOne(k, o, t, size); err != nil || k.single {
		return err
	}
	return measureMany(k, o, t, size)
}

func measureOne(k kind, o *other, t *table, size int64) error {
	steps := []func(session) error{
		func(s session) error { return get(s, size/8) }, // warm
		func(s session) error {
			before, err := o.usage()
			if err != nil {
				return err
			}
			from := time.Now()
			if err := get(s, size); err != nil {
				return err
			}
			took := time.Since(from)
			after, err := o.usage()
			t.add(k.name, "MB/s", float64(size)/1e6/took.Seconds())
			t.add(k.name, "allocs/64 KiB", float64(after.Mallocs-before.Mallocs)/(float64(size)/writeSize))
			t.add(k.name, "CPU s/GB", (after.CPU-before.CPU).Seconds()/(float64(size)/1e9))
			return err
		},
		func(s session) error {
			before, err := o.usage()
			if err != nil {
				return err
			}
			lat, err := pingPong(s, pings)
			if err != nil {
				return err
			}
			after, err := o.usage()
			t.add(k.name, "ping p50 µs", quantile(lat, .5))
			t.add(k.name, "p99 µs", quantile(lat, .99))
			t.add(k.name, "allocs/ping", float64(after.Mallocs-before.Mallocs)/pings)
			return err
		},
	}
	var shared session
	for i, step := range steps {
		if i == 0 || k.single {
			var err error
			if shared, err = o.dial(k); err != nil {
				return err
			}
			defer shared.close()
		}
		if err := step(shared); err != nil {
			return err
		}
	}
	return nil
}

func measureMany(k kind, o *other, t *table, size int64) error {
	s, err := o.dial(k)
	if err != nil {
		return err
	}
	defer s.close() // again: harmless
	from := time.Now()
	var g errgroup.Group
	for range manyStreams {
		g.Go(func() error { return get(s, size/manyStreams) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	t.add(k.name, "100 streams MB/s", float64(size)/1e6/time.Since(from).Seconds())

	flood, err := s.open()
	if err != nil {
		return err
	}
	if err := ask(flood, askBytes, floodForever); err != nil {
		return err
	}
	var got atomic.Int64
	var drained errgroup.Group
	drained.Go(func() error {
		buf := make([]byte, writeSize)
		for {
			n, err := flood.Read(buf)
			got.Add(int64(n))
			if err != nil {
				return nil // the session was closed below
			}
		}
	})
	time.Sleep(100 * time.Millisecond)
	from, at := time.Now(), got.Load()
	lat, err := pingPong(s, floodPings)
	if err != nil {
		return err
	}
	t.add(k.name, "ping beside flood p50 µs", quantile(lat, .5))
	t.add(k.name, "beside flood p99 µs", quantile(lat, .99))
	t.add(k.name, "flood meanwhile MB/s", float64(got.Load()-at)/1e6/time.Since(from).Seconds())
	s.close() // not every mux ends a read when its own stream is closed
	return drained.Wait()
}

// get has the server send n bytes on a new stream and reads them.
func get(s session, n int64) error {
	st, err := s.open()
	if err != nil {
		return err
	}
	defer st.Close()
	if err := ask(st, askBytes, n); err != nil {
		return err
	}
	buf := make([]byte, writeSize)
	for n > 0 {
		k, err := st.Read(buf[:min(n, writeSize)])
		if err != nil {
			return err
		}
		n -= int64(k)
	}
	return nil
}

func pingPong(s session, n int) ([]time.Duration, error) {
	st, err := s.open()
	if err != nil {
		return nil, err
	}
	defer st.Close()
	if err := ask(st, askEcho, int64(n+warmPings)); err != nil {
		return nil, err
	}
	var m [pingSize]byte
	lat := make([]time.Duration, 0, n)
	for i := range n + warmPings {
		from := time.Now()
		if _, err := st.Write(m[:]); err != nil {
			return nil, err
		}
		if _, err := io.ReadFull(st, m[:]); err != nil {
			return nil, err
		}
		if i >= warmPings {
			lat = append(lat, time.Since(from))
		}
	}
	return lat, nil
}

// quantile is in microseconds.
func quantile(d []time.Duration, q float64) float64 {
	s := slices.Clone(d)
	slices.Sort(s)
	return float64(s[int(q*float64(len(s)-1))].Nanoseconds()) / 1e3
}
