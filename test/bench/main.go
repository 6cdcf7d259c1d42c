//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// bench is one run of the suite.
type bench struct {
	ctx    context.Context // ended by a signal; every wait looks at it
	dir    string          // scratch, removed at the end
	self   string          // this program: it is also what runs in the sessions
	vev    string          // the vev under test, "" when it is not measured
	peers  []*peer
	remote []*netPeer // of the tables across a link
	seed   uint64     // of the last link
	quick  bool
	rounds int // 0: each table's own number
	noise  noise
}

// tableEntry is one table that can be asked for.
type tableEntry struct {
	name, title string
	measure     func(*bench, *table) error
}

// suite is a set of tables that are made in one run, and what is expected of vev in them.
type suite struct {
	tables  []tableEntry
	targets []target
	bases   []string // the peers that vev is compared with
}

var local = suite{tables: tables, targets: targets, bases: []string{"tmux", "raw"}}

// tables are all local tables in the order of a whole run.
var tables = []tableEntry{
	{"attach", "attach: start of the client to a whole known screen", (*bench).attach},
	{"create", "create: start of the client to the first output of the new session", (*bench).create},
	{"many", "many: 100 detached sessions made one after another, and listed", (*bench).many},
	{"echo", "echo: key typed to its cell seen, open loop", (*bench).echo},
	{"flood", "flood: 50 MB of text and 2,000,000 numbers, attached", (*bench).flood},
	{"ctrlc", "ctrlc: Ctrl-C in `yes` to what follows", (*bench).interrupt},
	{"mem", "mem: sessions of 10,000 full lines, one client attached, then idle", (*bench).memory},
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == programArg {
		runProgram(os.Args[2:])
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	code := run(ctx)
	stop()
	os.Exit(code)
}

func run(ctx context.Context) int {
	quick := flag.Bool("quick", false, "a smoke run of less than a minute: everything small, few rounds")
	gate := flag.Bool("gate", false, "fail when a target is missed by more than a quarter")
	rounds := flag.Int("rounds", 0, "rounds of each table (0: the table's own number)")
	only := flag.String("peers", "", "comma-separated peers (default: all that are installed)")
	across := flag.Bool("net", false, "the tables across a shaped link, with remote peers; takes root")
	binary := flag.String("vev", "", "the vev to measure (default: built from this checkout; \"none\": leave it out)")
	flag.Usage = usage
	flag.Parse()

	b := &bench{ctx: ctx, quick: *quick, rounds: *rounds}
	chosen := local
	if *across {
		chosen = remote
	}
	for _, name := range flag.Args() {
		if !slices.ContainsFunc(chosen.tables, tableNamed(name)) {
			fmt.Fprintf(os.Stderr, "bench: no table %q\n", name)
			usage()
			return 2
		}
	}
	if err := b.setUp(*binary, *only, *across); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	defer b.tearDown()
	return b.run(chosen, flag.Args(), *gate)
}

func usage() {
	fmt.Fprintln(flag.CommandLine.Output(), "usage: bench [flags] [table...]\n\ntables:")
	for _, t := range slices.Concat(tables, netTables) {
		fmt.Fprintf(flag.CommandLine.Output(), "  %s\n", t.title)
	}
	fmt.Fprintln(flag.CommandLine.Output(), "\nflags:")
	flag.PrintDefaults()
}

func tableNamed(name string) func(tableEntry) bool {
	return func(t tableEntry) bool { return t.name == name }
}

// run makes the named tables of a suite, all of them without a name, and returns the exit code.
func (b *bench) run(s suite, names []string, gate bool) int {
	begin := time.Now()
	code := 0
	made := map[string]*table{}
	for _, entry := range s.tables {
		if len(names) > 0 && !slices.Contains(names, entry.name) {
			continue
		}
		t := newTable(entry.title, s.bases...)
		start := time.Now()
		if err := entry.measure(b, t); err != nil {
			t.note(err)
			code = 1
		}
		if b.ctx.Err() != nil {
			return 130
		}
		made[entry.name] = t
		t.print(os.Stdout, b.peerNames(), time.Since(start))
	}
	missed := printTargets(os.Stdout, s.targets, made, b.quick)
	fmt.Printf("\n%s; %s\n", time.Since(begin).Round(time.Second), b.noise)
	if gate && missed > 0 {
		code = 1
	}
	return code
}

// setUp makes the scratch directory, finds or builds vev, and keeps the peers that are installed.
func (b *bench) setUp(binary, only string, across bool) error {
	// What a peer leaves behind becomes ours, not init's, so that it can be found and ended.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("cannot adopt what peers leave running: %w", err)
	}
	debug.SetGCPercent(1000) // the collector must not run in the middle of a key
	var err error
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "vevbench-"); err != nil {
		return err
	}
	if binary != "none" {
		if b.vev, err = b.findVev(binary); err != nil {
			os.RemoveAll(b.dir)
			return err
		}
	}
	if across {
		return b.setUpNet(only)
	}
	for _, p := range allPeers(b.vev) {
		if only != "" && !slices.Contains(strings.Split(only, ","), p.name) {
			continue
		}
		if p.exe != "" {
			if _, err := exec.LookPath(p.exe); err != nil {
				fmt.Printf("%s is not installed: left out\n", p.name)
				continue
			}
		}
		b.peers = append(b.peers, p)
	}
	return nil
}

// installPiece is what make build writes at once, too: in the page cache it is a piece that may be mapped at once.
const installPiece = 256 << 10

// findVev makes a copy of the binary, built if it has no name, as make build does: the peers are installed, and what a linker has
// just written starts slower than any copy.
func (b *bench) findVev(binary string) (string, error) {
	if binary == "" {
		binary = filepath.Join(b.dir, "linked")
		out, err := exec.CommandContext(b.ctx, "go", "build", "-o", binary, "github.com/vev-term/vev/cmd/vev").CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("vev does not build: %w\n%s", err, out)
		}
	}
	program, err := os.ReadFile(binary)
	if err != nil {
		return "", err
	}
	installed := filepath.Join(b.dir, "vev")
	f, err := os.OpenFile(installed, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		return "", err
	}
	for piece := range slices.Chunk(program, installPiece) {
		if _, err := f.Write(piece); err != nil {
			return "", errors.Join(err, f.Close())
		}
	}
	return installed, f.Close()
}

// tearDown ends whatever still runs and removes the scratch directory.
func (b *bench) tearDown() {
	endAll(func() []int { return descendants(os.Getpid()) })
	os.RemoveAll(b.dir)
}

func (b *bench) peerNames() []string {
	var names []string
	for _, p := range b.peers {
		names = append(names, p.name)
	}
	for _, p := range b.remote {
		names = append(names, p.name)
	}
	return names
}

// count is how often a table does a thing: what was asked for, else full, or small in a smoke run.
func (b *bench) count(full, small int) int {
	switch {
	case b.rounds > 0:
		return b.rounds
	case b.quick:
		return small
	}
	return full
}

// size is how large a table's load is.
func (b *bench) size(full, small int) int {
	if b.quick {
		return small
	}
	return full
}

// pause waits for d, less when the run is interrupted.
func (b *bench) pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-b.ctx.Done():
	}
}
