//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// peerRun is one peer at work: a directory that is its home, and all its processes.
type peerRun struct {
	*peer
	b   *bench
	dir string
	env []string
}

func (b *bench) start(p *peer) (*peerRun, error) {
	dir, err := os.MkdirTemp(b.dir, p.name+"-")
	if err != nil {
		return nil, err
	}
	r := &peerRun{peer: p, b: b, dir: dir, env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "SHELL=/bin/sh", "USER=bench", "LOGNAME=bench",
		"TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=C.UTF-8",
	}}
	if p.env != nil {
		r.env = append(r.env, p.env(dir)...)
	}
	if p.prepare != nil {
		return r, p.prepare(dir)
	}
	return r, nil
}

// startAll starts a run of each peer that has the command, for tables in which servers stay up. done ends them.
func (b *bench) startAll(has func(*peer) bool) (runs []*peerRun, done func(), err error) {
	done = func() {
		for _, r := range runs {
			r.close()
		}
	}
	for _, p := range b.peers {
		if !has(p) {
			continue
		}
		r, err := b.start(p)
		if err != nil {
			done()
			return nil, nil, err
		}
		runs = append(runs, r)
	}
	return runs, done, nil
}

// close ends all the run's processes and removes its directory.
func (r *peerRun) close() {
	endAll(r.processes)
	os.RemoveAll(r.dir)
}

func (r *peerRun) processes() []int {
	var pids []int
	for _, pid := range descendants(os.Getpid()) {
		if mentions(pid, r.dir) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// cost sums what the peer's own processes, not the programs in its sessions, hold and have used.
func (r *peerRun) cost() cost {
	var sum cost
	for _, pid := range r.processes() {
		exe, _ := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "exe"))
		if filepath.Base(exe) == filepath.Base(r.exe) {
			sum.add(pid)
		}
	}
	return sum
}

// do runs one of the peer's commands to its end.
func (r *peerRun) do(c command, session string, program []string) error {
	argv := c(r.dir, session, program)
	cmd := exec.CommandContext(r.b.ctx, argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = r.env, r.dir
	// A file, not a pipe: a server that the command leaves behind would hold a pipe open.
	out, err := os.CreateTemp(r.b.dir, "out-")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		said, _ := os.ReadFile(out.Name())
		return fmt.Errorf("%v: %w: %s", argv, err, said)
	}
	return nil
}

// open starts one of the peer's commands in a pty.
func (r *peerRun) open(c command, session string, program []string) (*client, error) {
	return openClient(r.b.ctx, c(r.dir, session, program), r.env, r.dir, (*exec.Cmd).Start)
}

// end ends a session whose client may have gone already.
func (r *peerRun) end(session string) {
	if r.kill != nil {
		_ = r.do(r.kill, session, nil) // it may have ended with its client
	}
}

// watched starts a session that floods; a second client, in a process of its own, shows it if shown is set.
func (r *peerRun) watched(shown bool) error {
	if r.detached == nil {
		return r.drain(r.create)
	}
	if err := r.do(r.detached, "flood", []string{"yes"}); err != nil || !shown {
		return err
	}
	return r.drain(r.attach)
}

func (r *peerRun) drain(c command) error {
	argv := append([]string{programArg, "drain"}, c(r.dir, "flood", []string{"yes"})...)
	cmd := exec.Command(r.b.self, argv...)
	cmd.Env, cmd.Dir = r.env, r.dir
	return cmd.Start() // reaped and ended with the run
}

// program is a command line for one of this program's own programs.
func (b *bench) program(args ...string) []string {
	return append([]string{b.self, programArg}, args...)
}

// waitFor waits until a file is there.
func (b *bench) waitFor(path string) error {
	for end := time.Now().Add(patience); time.Now().Before(end) && b.ctx.Err() == nil; b.pause(10 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%s never came", filepath.Base(path))
}
