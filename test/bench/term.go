//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/domain/vt"
)

const (
	termRows = 24
	termCols = 80
	// patience is how long anything may take before the measurement has failed.
	patience = 60 * time.Second
)

// client is a program in a pty of ours and the terminal it sees. One goroutine polls, reads and writes with plain system
// calls, so that no second thread stands between the pty and the clock.
type client struct {
	ctx    context.Context
	screen *vt.Terminal
	start  time.Time // just before the program was started
	last   time.Time // after the newest read that returned bytes
	shown  int64     // bytes written to the terminal so far
	blind  bool      // count and scan only: floods are not emulated

	master int
	proc   *os.Process
	buf    []byte
}

var errEnded = errors.New("the client ended")

// openPTY returns a new master and its slave, termRows by termCols.
func openPTY() (master int, slave *os.File, err error) {
	master, err = unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, nil, err
	}
	defer func() {
		if err != nil {
			unix.Close(master)
		}
	}()
	if err = unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		return -1, nil, err
	}
	number, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err != nil {
		return -1, nil, err
	}
	if err = unix.IoctlSetWinsize(master, unix.TIOCSWINSZ, &unix.Winsize{Row: termRows, Col: termCols}); err != nil {
		return -1, nil, err
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	return master, slave, err
}

// inPTY makes cmd a session of its own on a terminal, which is its controlling one.
func inPTY(cmd *exec.Cmd, slave *os.File) {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
}

// openClient runs a command in a new pty; start is how it is started.
func openClient(ctx context.Context, argv, env []string, dir string, start func(*exec.Cmd) error) (*client, error) {
	master, slave, err := openPTY()
	if err != nil {
		return nil, err
	}
	defer slave.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = env, dir
	inPTY(cmd, slave)
	c := &client{
		ctx: ctx, master: master, buf: make([]byte, 64<<10),
		screen: vt.New(vt.Options{Cols: termCols, Rows: termRows}),
	}
	c.start = time.Now()
	if err := start(cmd); err != nil {
		unix.Close(master)
		return nil, err
	}
	c.proc = cmd.Process
	return c, nil
}

// read takes in what one read returns and returns it, valid until the next call. It waits at most d; nothing came then
// when it returns nil.
func (c *client) read(d time.Duration) ([]byte, error) {
	if c.ctx.Err() != nil {
		return nil, c.ctx.Err()
	}
	wait := unix.NsecToTimespec(max(0, d.Nanoseconds()))
	n, err := unix.Ppoll([]unix.PollFd{{Fd: int32(c.master), Events: unix.POLLIN}}, &wait, nil)
	if n == 0 || err == unix.EINTR {
		return nil, nil
	}
	k, err := unix.Read(c.master, c.buf)
	if err == unix.EINTR || err == unix.EAGAIN {
		return nil, nil
	}
	if k <= 0 {
		return nil, errEnded
	}
	c.last = time.Now()
	c.shown += int64(k)
	if !c.blind {
		_, _ = c.screen.Write(c.buf[:k])
		if answer := c.screen.TakeReplies(); len(answer) > 0 {
			_, _ = unix.Write(c.master, answer)
		}
	}
	return c.buf[:k], nil
}

// until reads until ok holds and returns when the read that made it hold had returned.
func (c *client) until(what string, ok func() bool) (time.Time, error) {
	for end := time.Now().Add(patience); !ok(); {
		left := time.Until(end)
		if left <= 0 {
			return c.last, fmt.Errorf("%s: not within %v; the screen:\n%s", what, patience, c.text())
		}
		if _, err := c.read(left); err != nil {
			return c.last, fmt.Errorf("%s: %w; the screen:\n%s", what, err, c.text())
		}
	}
	return c.last, nil
}

// sees reads until a row of the screen holds text.
func (c *client) sees(text string) (time.Time, error) {
	return c.until("waiting for "+text, func() bool { return strings.Contains(c.text(), text) })
}

// scan reads until mark was among the bytes, without emulating.
func (c *client) scan(mark string) (time.Time, error) {
	c.blind = true
	var tail []byte // what a mark cut by a read may have begun with
	for end := time.Now().Add(patience); ; {
		left := time.Until(end)
		if left <= 0 {
			return c.last, fmt.Errorf("waiting for %s: not within %v", mark, patience)
		}
		got, err := c.read(left)
		if err != nil {
			return c.last, fmt.Errorf("waiting for %s: %w", mark, err)
		}
		joined := append(tail, got[:min(len(got), len(mark)-1)]...)
		if bytes.Contains(joined, []byte(mark)) || bytes.Contains(got, []byte(mark)) {
			return c.last, nil
		}
		if len(got) < len(mark) {
			tail = append([]byte(nil), joined[max(0, len(joined)-len(mark)+1):]...)
		} else {
			tail = append(tail[:0], got[len(got)-len(mark)+1:]...)
		}
	}
}

// drain takes in output for d.
func (c *client) drain(d time.Duration) error {
	for end := time.Now().Add(d); time.Now().Before(end); {
		if _, err := c.read(time.Until(end)); err != nil {
			return err
		}
	}
	return nil
}

// quiet takes in output until none has come for d.
func (c *client) quiet(d time.Duration) error {
	for {
		if got, err := c.read(d); err != nil || got == nil {
			return err
		}
	}
}

// press writes to the terminal as a keyboard does.
func (c *client) press(keys string) error {
	_, err := unix.Write(c.master, []byte(keys))
	return err
}

// cell returns what one cell shows.
func (c *client) cell(row, col int) rune { return c.screen.Row(row).Cells()[col].Rune() }

// row returns a row's text without trailing blanks.
func (c *client) row(y int) string {
	var text []byte
	for _, cell := range c.screen.Row(y).Cells() {
		if cell.IsBlank() {
			text = append(text, ' ')
			continue
		}
		text = c.screen.AppendCell(text, cell)
	}
	return strings.TrimRight(string(text), " ")
}

func (c *client) text() string {
	var rows strings.Builder
	for y := range termRows {
		rows.WriteString(c.row(y))
		rows.WriteByte('\n')
	}
	return rows.String()
}

// close hangs up, as a closed window does, and kills what has not gone after a while.
func (c *client) close() {
	unix.Close(c.master)
	stuck := time.AfterFunc(2*time.Second, func() { _ = c.proc.Kill() })
	defer stuck.Stop()
	_, _ = c.proc.Wait() // it may have been reaped with its run
}
