package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/vev-term/vev/internal/domain/vt"
	"github.com/vev-term/vev/internal/testkit/vtload"
)

// root is the checkout, seen from this directory.
const root = "../../.."

// least is the time of the processor that one measurement takes.
const least = 100 * time.Millisecond

func main() {
	runs := flag.Int("runs", 9, "rounds")
	only := flag.String("only", "", "loads whose names match `RE`, all without")
	flag.Parse()
	if err := run(*runs, *only); err != nil {
		fmt.Fprintln(os.Stderr, "vt:", err)
		os.Exit(1)
	}
}

func run(runs int, only string) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	if runs < 1 {
		return errors.New("at least one round")
	}
	loads := slices.DeleteFunc(vtload.Loads(root), func(l vtload.Load) bool { return !wanted.MatchString(l.Name) })
	fmt.Println("| MB/s | engine | must, there | x/ansi's parser | ratio | must, anywhere |")
	fmt.Println("|---|---:|---:|---:|---:|---:|")
	missed := 0
	for _, l := range loads {
		if l.Bytes == nil {
			fmt.Printf("| %s | - | - | - | - | - | ../shared/vt-corpus is not beside the checkout\n", l.Name)
			continue
		}
		ours, peers, ratio := measure(l, runs)
		if l.Must == 0 {
			fmt.Printf("| %s | %.0f | - | %.0f | %.2f | - |\n", l.Name, ours, peers, ratio)
			continue
		}
		verdict := ""
		if ratio < l.MustRatio() {
			verdict = " missed"
			missed++
		}
		fmt.Printf("| %s | %.0f | %.0f | %.0f | %.2f | %.2f |%s\n", l.Name, ours, l.Must, peers, ratio, l.MustRatio(), verdict)
	}
	if missed > 0 {
		return fmt.Errorf("the engine misses %d of its targets", missed)
	}
	return nil
}

// measure returns the medians of both in MB/s and of the ratio within a round.
func measure(l vtload.Load, runs int) (ours, peers, ratio float64) {
	engine, parser := newEngine(), newParser()
	rate(l.Bytes, engine) // fills the history
	var all [3][]float64
	for range runs {
		runtime.GC()
		o, p := rate(l.Bytes, engine), rate(l.Bytes, parser)
		for i, v := range []float64{o, p, o / p} {
			all[i] = append(all[i], v)
		}
	}
	return median(all[0]), median(all[1]), median(all[2])
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// rate is how fast take gets through data, in MB/s by time of the processor.
func rate(data []byte, take func([]byte)) float64 {
	start, n := cpuTime(), 0
	for {
		for p := range slices.Chunk(data, vtload.Chunk) {
			take(p)
		}
		n += len(data)
		if spent := cpuTime() - start; spent >= least {
			return float64(n) / 1e6 / spent.Seconds()
		}
	}
}

func newEngine() func([]byte) {
	t := vt.New(vt.Options{Cols: 80, Rows: 24, HistoryLines: 10000})
	return func(p []byte) {
		_, _ = t.Write(p) // never fails
		t.TakeReplies()
		t.TakeEvents()
	}
}

func newParser() func([]byte) {
	p := ansi.NewParser()
	p.SetHandler(ansi.Handler{
		Print:     func(rune) {},
		Execute:   func(byte) {},
		HandleCsi: func(ansi.Cmd, ansi.Params) {},
		HandleEsc: func(ansi.Cmd) {},
		HandleDcs: func(ansi.Cmd, ansi.Params, []byte) {},
		HandleOsc: func(int, []byte) {},
		HandlePm:  func([]byte) {},
		HandleApc: func([]byte) {},
		HandleSos: func([]byte) {},
	})
	return func(b []byte) {
		for _, c := range b {
			p.Advance(c)
		}
	}
}

// cpuTime is what this process has had: other programs on the machine do not count.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // cannot fail with these arguments
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
