package main

import "os"

// version is set by the linker: -X main.version=...
var version = "dev"

func main() {
	c := &cli{in: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(c.run(os.Args[1:]))
}
