package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"
)

func main() {
	if socket := os.Getenv(relayVariable); socket != "" {
		if err := relay(socket); err != nil {
			fmt.Fprintln(os.Stderr, "vtdiff:", err)
			os.Exit(1)
		}
		return
	}
	duration := flag.Duration("duration", time.Minute, "how long to go on")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "the first seed")
	only := flag.String("profile", "", "only sessions of this profile")
	oracle := flag.String("oracle", "../shared/vt-oracle", "where xterm.js's driver is")
	all := flag.Bool("all", false, "also show where one of the others stands alone")
	input := flag.String("input", "", "judge this one input, quoted as a reproduction is but without its size")
	size := flag.String("size", "20x5", "the size for -input")
	flag.Parse()
	if *input != "" {
		if err := runInput(*oracle, *input, *size, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "vtdiff:", err)
			os.Exit(1)
		}
		return
	}
	found, err := run(*oracle, *seed, *duration, *only, *all, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "vtdiff:", err)
		os.Exit(1)
	}
	if found > 0 {
		os.Exit(1)
	}
}

// open starts the voices; done ends them.
func open(oracle string) (j *judge, done func(), err error) {
	scratch, err := os.MkdirTemp("", "vtdiff")
	if err != nil {
		return nil, nil, err
	}
	j = &judge{}
	done = func() {
		if j.xterm != nil {
			j.xterm.close()
		}
		if j.xtermjs != nil {
			j.xtermjs.close()
		}
		os.RemoveAll(scratch)
	}
	if j.xtermjs, err = startXtermjs(oracle, scratch); err != nil {
		done()
		return nil, nil, err
	}
	if j.xterm, err = startXterm(scratch); err != nil {
		done()
		return nil, nil, err
	}
	return j, done, nil
}

// run goes on for a time and returns how many differences are the engine's.
func run(oracle string, seed uint64, d time.Duration, only string, all bool, w io.Writer) (int, error) {
	j, done, err := open(oracle)
	if err != nil {
		return 0, err
	}
	defer done()
	fmt.Fprintln(w, "first seed:", seed)
	t := newTally(w, all)
	for end := time.Now().Add(d); time.Now().Before(end); seed++ {
		s := generate(seed)
		if only != "" && s.profile.name != only {
			continue
		}
		if err := t.session(j, s, seed); err != nil {
			return t.found, err
		}
	}
	t.print()
	return t.found, nil
}

// tally counts verdicts, and shows what is new.
type tally struct {
	w      io.Writer
	all    bool
	counts map[string]map[verdict]int
	known  map[string]int
	found  int
}

func newTally(w io.Writer, all bool) *tally {
	return &tally{w: w, all: all, counts: map[string]map[verdict]int{}, known: map[string]int{}}
}

func (t *tally) session(j *judge, s *session, seed uint64) error {
	o, err := j.try(s)
	if err != nil {
		return fmt.Errorf("seed %d: %w", seed, err)
	}
	count := t.counts[s.profile.name]
	if count == nil {
		count = map[verdict]int{}
		t.counts[s.profile.name] = count
	}
	if o.verdict != agreed && o.verdict != unjudged {
		again, err := j.try(s)
		if err != nil {
			return err
		}
		if again != o {
			o.verdict = unstable
		}
	}
	count[o.verdict]++
	ours := o.verdict == oursAlone || o.verdict == noneAgree || o.verdict == xtermAlone
	if !ours && !(t.all && o.verdict == xtermjsAlone) {
		return nil
	}
	small, err := shrink(s, o.verdict, j.try)
	if err != nil {
		return err
	}
	if o, err = j.try(small); err != nil {
		return err
	}
	if o.verdict == agreed {
		count[unstable]++
		return nil
	}
	if name := excuse(small, o); name != "" {
		t.known[name]++
		return nil
	}
	if ours {
		t.found++
	}
	fmt.Fprintf(t.w, "seed %d: %s\n\t%s\n\t%s\n", seed, o.verdict, small, o.detail)
	return nil
}

func (t *tally) print() {
	var names []string
	for name := range t.counts {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(t.w, "%-12s", name)
		for v := agreed; v <= unjudged; v++ {
			fmt.Fprintf(t.w, "%s %d  ", v, t.counts[name][v])
		}
		fmt.Fprintln(t.w)
	}
	type entry struct {
		name string
		n    int
	}
	var known []entry
	for name, n := range t.known {
		known = append(known, entry{name, n})
	}
	slices.SortFunc(known, func(a, b entry) int { return cmp.Or(b.n-a.n, cmp.Compare(a.name, b.name)) })
	for _, k := range known {
		fmt.Fprintf(t.w, "known %6d  %s\n", k.n, k.name)
	}
	fmt.Fprintln(t.w, "differences to resolve:", t.found)
}

// runInput shows what each voice makes of one input.
func runInput(oracle, input, size string, w io.Writer) error {
	text, err := strconv.Unquote(`"` + input + `"`)
	if err != nil {
		return fmt.Errorf("%s: %w", input, err)
	}
	s := &session{profile: profile{name: "input", xterm: true, xtermjs: true}, steps: []step{{bytes: text}}}
	if _, err := fmt.Sscanf(size, "%dx%d", &s.cols, &s.rows); err != nil {
		return fmt.Errorf("%s: %w", size, err)
	}
	j, done, err := open(oracle)
	if err != nil {
		return err
	}
	defer done()
	ours := runOurs(s)
	real, err := j.xterm.run(s)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "ours\n%sxterm\n%s", &ours, &real)
	js, err := j.xtermjs.run(s)
	if err != nil {
		fmt.Fprintln(w, "xterm.js:", err)
		return nil
	}
	fmt.Fprintf(w, "xterm.js\n%s", &js)
	o := weigh(s, &ours, &real, &js, true, true)
	fmt.Fprintf(w, "%s: %s\n", o.verdict, o.detail)
	return nil
}
