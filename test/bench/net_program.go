//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/testkit/carriage"
)

// Programs for sessions that tell the time on the screen, so that its age can be read there, and
// the two services that join a near broker to a far daemon.

// stampMark is before a time in milliseconds, of as many digits as now.
const (
	stampMark   = "T="
	stampDigits = 13
)

func stamp() string { return stampMark + strconv.FormatInt(time.Now().UnixMilli(), 10) }

// stampIn is the newest time on the screen, rows from the bottom on, or false.
func (c *client) stampIn(rows ...int) (at time.Time, ok bool) {
	for _, y := range rows {
		text := c.row(y)
		_, rest, found := strings.Cut(text, stampMark)
		if !found || len(rest) < stampDigits {
			continue
		}
		if ms, err := strconv.ParseInt(rest[:stampDigits], 10, 64); err == nil {
			return time.UnixMilli(ms), true
		}
	}
	return time.Time{}, false
}

// bottomUp are all rows, the newest of a flood first.
func bottomUp() (rows []int) {
	for y := termRows - 1; y >= 0; y-- {
		rows = append(rows, y)
	}
	return rows
}

// stampFlood is a `yes` whose lines tell the time.
func stampFlood() {
	out := make([]byte, 0, 8<<10)
	for {
		out = out[:0]
		for len(out) < 4<<10 {
			out = append(out, stamp()...)
			out = append(out, " yyyyyyyyyyyyyyyyyyyyyyyy\n"...)
		}
		if _, err := os.Stdout.Write(out); err != nil {
			os.Exit(1)
		}
	}
}

const fps = 20

// clock shows the time and how many keys came, twenty times a second, on a screen whose other rows change too.
func clock() {
	rawInput()
	keys := make(chan int)
	go func() {
		var in [4096]byte
		for {
			n, err := os.Stdin.Read(in[:])
			if err != nil {
				os.Exit(0)
			}
			keys <- n
		}
	}()
	put("\x1b[2J")
	count := 0
	tick := time.NewTicker(time.Second / fps)
	for i := 0; ; {
		select {
		case n := <-keys:
			count += n
		case <-tick.C:
			put(fmt.Sprintf("\x1b[%d;1Hrow %d %s\x1b[1;1H%s keys=%d;", 3+i%18, i, time.Now().Format("05.000"), stamp(), count))
			i++
		}
	}
}

// processTable redraws a table of processes twenty times a second for some seconds, after a key. "full" writes every row in
// each frame; "cells" writes what differs, as curses does. Its first row tells the time of the frame.
func processTable(mode, seconds string) {
	rawInput()
	put("\x1b[2J\x1b[H" + readyMark)
	var one [1]byte
	if _, err := os.Stdin.Read(one[:]); err != nil {
		os.Exit(0)
	}
	n, _ := strconv.Atoi(seconds)
	table := newProcesses()
	tick := time.NewTicker(time.Second / fps)
	for frame := 1; frame <= n*fps; frame++ {
		<-tick.C
		put(table.frame(frame, mode == "full"))
	}
	put("\x1b[23;1H" + doneMark)
	for {
		if _, err := os.Stdin.Read(one[:]); err != nil {
			os.Exit(0)
		}
	}
}

// processes is a table of processes and what of it is on the screen. The same in each run, but for the time.
type processes struct {
	rng   *rand.Rand
	cpu   [paintedRows]float64
	used  [paintedRows]float64
	shown [paintedRows]string
}

func newProcesses() *processes { return &processes{rng: rand.New(rand.NewPCG(5, 6))} }

// frame moves on by one frame and returns what draws it. In each some of the processes use the CPU.
func (p *processes) frame(n int, full bool) string {
	rows := [paintedRows]string{
		0: fmt.Sprintf("%s frame %05d, up 12 days, load average: %.2f, %.2f", stamp(), n, p.rng.Float64(), p.rng.Float64()),
		1: fmt.Sprintf("Tasks: 213 total, %3d running, 210 sleeping, 0 stopped, 0 zombie", 1+p.rng.IntN(3)),
		2: fmt.Sprintf("%%Cpu(s): %4.1f us, %4.1f sy, %4.1f id", p.rng.Float64()*20, p.rng.Float64()*9, 70+p.rng.Float64()*20),
		3: "MiB Mem :  24011.5 total,  18022.1 free,   2013.9 used,   3975.5 cache",
		5: "    PID USER      PR  NI    VIRT    RES    SHR S  %CPU     TIME+ COMMAND",
	}
	for y := 6; y < paintedRows; y++ {
		if n == 1 || p.rng.IntN(3) == 0 {
			p.cpu[y] = p.rng.Float64() * 30
			p.used[y] += p.cpu[y] / 100
		}
		rows[y] = fmt.Sprintf("%7d root      20   0 %7d %6d %6d S %5.1f %9.2f worker-%02d",
			1000+37*y, 100000+991*y, 5000+77*y, 3000+11*y, p.cpu[y], p.used[y], y)
	}
	var out strings.Builder
	for y, row := range rows {
		row = fmt.Sprintf("%-79s", row)
		if full || n == 1 {
			fmt.Fprintf(&out, "\x1b[%d;1H%s\x1b[K", y+1, strings.TrimRight(row, " "))
		} else {
			changes(&out, y, p.shown[y], row)
		}
		p.shown[y] = row
	}
	return out.String()
}

// changes writes the runs of a row that differ, each after a cursor movement.
func changes(out *strings.Builder, y int, was, is string) {
	for x := 0; x < len(is); x++ {
		if was[x] == is[x] {
			continue
		}
		end := x + 1
		for end < len(is) && was[end] != is[end] {
			end++
		}
		fmt.Fprintf(out, "\x1b[%d;%dH%s", y+1, x+1, is[x:end])
		x = end
	}
}

func put(text string) {
	for b := []byte(text); len(b) > 0; {
		n, err := unix.Write(1, b)
		if err != nil && err != unix.EINTR {
			os.Exit(1)
		}
		b = b[max(n, 0):]
	}
}

// joinNear is the near host's broker, and joinFar what answers it on the far one.
func joinNear(addr string) {
	serve(func(ctx context.Context) error {
		return carriage.Near(ctx, addr, func() { os.Stdout.Close() })
	})
}

func joinFar(addr, vev string) {
	serve(func(ctx context.Context) error {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			return err
		}
		os.Stdout.Close()
		return carriage.Far(ctx, l, vev)
	})
}

func serve(f func(context.Context) error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := f(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
