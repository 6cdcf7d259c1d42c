package main

import (
	"os"
	"path/filepath"

	_ "github.com/vev-term/vev/internal/domain/stack" // the main goroutine has room for the calls of a command
)

// version is set by the linker: -X main.version=...
var version = "dev"

func main() {
	c := &cli{in: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	if filepath.Base(os.Args[0]) == askpassName {
		os.Exit(c.askpass(os.Args[1:]))
	}
	os.Exit(c.run(os.Args[1:]))
}
