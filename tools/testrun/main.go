// Command testrun runs go test and judges what it skipped: a test that is skipped for want of
// a tool has not run, so with VEV_TEST_STRICT=1 it fails the run. It shows what failed, in
// full, and one line for every package.
//
//	go run ./tools/testrun [go test flags and packages]
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// mayBeAbsent are the reasons for a skip that no machine can be asked to remove: data beside
// the checkout, another user to play, a kernel that lacks something.
var mayBeAbsent = []string{"beside the checkout", "only root", "testing: short"}

// event is one line of go test -json.
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

func main() {
	code, err := run(os.Args[1:], os.Getenv("VEV_TEST_STRICT") == "1", os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

func run(args []string, strict bool, w io.Writer) (int, error) {
	// Under nohup SIGHUP is ignored, by children too, and the tests are about hang-ups as well.
	// What a program catches is at its default again in what it starts.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	r := newReport(w)
	readErr := r.read(out)
	waitErr := cmd.Wait()
	if readErr != nil {
		return 0, readErr
	}
	bad := r.finish(strict)
	if exit, ok := errors.AsType[*exec.ExitError](waitErr); ok {
		return exit.ExitCode(), nil
	}
	if waitErr == nil && bad {
		return 1, nil
	}
	return 0, waitErr
}

// report collects the output of every test until it is known whether anybody wants it.
type report struct {
	w       io.Writer
	outputs map[string][]string // by package and test
	skipped []string
	failed  int
	passed  int
}

func newReport(w io.Writer) *report { return &report{w: w, outputs: map[string][]string{}} }

func (r *report) read(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			fmt.Fprintln(r.w, lines.Text()) // of the build, before any test
			continue
		}
		r.take(e)
	}
	return lines.Err()
}

func (r *report) take(e event) {
	key := e.Package + "\x00" + e.Test
	switch e.Action {
	case "output", "build-output":
		if e.Action == "build-output" {
			fmt.Fprint(r.w, e.Output)
			return
		}
		r.outputs[key] = append(r.outputs[key], e.Output)
		return
	case "pass":
		r.passed++
		if e.Test == "" {
			fmt.Fprintf(r.w, "ok    %-60s %7.2fs\n", e.Package, e.Elapsed)
		}
	case "fail":
		r.failed++
		fmt.Fprint(r.w, strings.Join(r.outputs[key], ""))
		if e.Test == "" {
			r.unfinished(e.Package)
			fmt.Fprintf(r.w, "FAIL  %-60s %7.2fs\n", e.Package, e.Elapsed)
		}
	case "skip":
		if e.Test != "" {
			r.skipped = append(r.skipped, e.Package+" "+e.Test+": "+reason(r.outputs[key]))
		}
	default:
		return
	}
	delete(r.outputs, key)
}

// unfinished prints what the tests of a failed package said that came to no end: of a hang,
// the stacks.
func (r *report) unfinished(pkg string) {
	for _, key := range slices.Sorted(maps.Keys(r.outputs)) {
		if strings.HasPrefix(key, pkg+"\x00") && key != pkg+"\x00" {
			fmt.Fprint(r.w, strings.Join(r.outputs[key], ""))
			delete(r.outputs, key)
		}
	}
}

// reason is what a skipped test said, without the lines that go test adds.
func reason(output []string) string {
	var said []string
	for _, line := range output {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") && line != "" {
			said = append(said, line)
		}
	}
	return strings.Join(said, " ")
}

// finish prints the skips and reports whether one of them is not to be had.
func (r *report) finish(strict bool) (bad bool) {
	slices.Sort(r.skipped)
	for _, s := range r.skipped {
		allowed := slices.ContainsFunc(mayBeAbsent, func(why string) bool { return strings.Contains(s, why) })
		word := "skip "
		if strict && !allowed {
			word, bad = "SKIP ", true
		}
		fmt.Fprintln(r.w, word, s)
	}
	fmt.Fprintf(r.w, "%d passed, %d failed, %d skipped\n", r.passed, r.failed, len(r.skipped))
	if bad {
		fmt.Fprintln(r.w, "a skip above is for want of a tool: see .ci/tools")
	}
	return bad
}
