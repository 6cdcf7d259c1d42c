package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
)

func main() {
	runs := flag.Int("runs", 3, "rounds")
	mb := flag.Int64("mb", 256, "MB to move in a throughput measurement")
	only := flag.String("only", "", "comma-separated kinds, all without")
	serve := flag.String("serve", "", "be the server of this kind (used by the program itself)")
	pipe := flag.String("pipe", "", "be that on standard input and output")
	flag.StringVar(&sshCommand, "ssh", "", "`words` of an ssh to a host that has this program at the same place, to measure over that, too")
	flag.Parse()
	if *pipe != "" {
		if err := servePipe(*pipe); err != nil {
			fmt.Fprintln(os.Stderr, "streams:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(*serve, *only, *runs, *mb*1e6); err != nil {
		fmt.Fprintln(os.Stderr, "streams:", err)
		os.Exit(1)
	}
}

func run(serve, only string, runs int, size int64) error {
	if serve != "" {
		return serveKind(serve)
	}
	t := new(table)
	for range runs {
		for _, k := range kinds {
			if k.ssh && sshCommand == "" || only != "" && !slices.Contains(strings.Split(only, ","), k.name) {
				continue
			}
			if err := measure(k, t, size); err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
		}
	}
	t.print(os.Stdout)
	return nil
}
