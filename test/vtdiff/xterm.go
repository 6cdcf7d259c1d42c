package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// relayVariable tells a copy of this program that it runs inside xterm, and the socket it relays to.
const relayVariable = "VEV_VTDIFF_RELAY"

// answerTimeout bounds the wait for an answer of xterm.
const answerTimeout = 10 * time.Second

// xterm is a real xterm in a virtual X server. It is asked in band for everything: cells by DECRQCRA and XTREPORTSGR,
// sizes by XTWINOPS.
type xterm struct {
	server, term *exec.Cmd
	conn         net.Conn
	in           *bufio.Reader
	cols, rows   int
}

// startXterm starts both programs; its socket is in scratch.
func startXterm(scratch string) (*xterm, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	o := &xterm{cols: 40, rows: 10}
	display, err := o.startServer()
	if err != nil {
		return nil, err
	}
	socket := filepath.Join(scratch, "relay")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, errors.Join(err, o.close())
	}
	defer listener.Close()
	args := []string{"-u8", "-geometry", fmt.Sprintf("%dx%d", o.cols, o.rows)}
	for _, resource := range []string{
		"utf8: 2", "mkWidth: true", "saveLines: 1000", "allowWindowOps: true", "c132: false", "boldColors: false", "jumpScroll: false",
		// DECRQCRA as sums of code points, not negated, attributes left out.
		"checksumExtension: 23",
	} {
		args = append(args, "-xrm", "XTerm*"+resource)
	}
	args = append(args, "-e", "sh", "-c", `stty raw -echo; exec "$0"`, self)
	o.term = exec.Command("xterm", args...)
	o.term.Env = append(os.Environ(), "DISPLAY=:"+display, "LC_ALL=C.UTF-8", relayVariable+"="+socket)
	if err := o.term.Start(); err != nil {
		return nil, errors.Join(err, o.close())
	}
	if err := listener.(*net.UnixListener).SetDeadline(time.Now().Add(answerTimeout)); err != nil {
		return nil, errors.Join(err, o.close())
	}
	if o.conn, err = listener.Accept(); err != nil {
		return nil, errors.Join(err, o.close())
	}
	o.in = bufio.NewReaderSize(o.conn, 1<<16)
	return o, nil
}

// startServer starts the X server and returns the display that it chose.
func (o *xterm) startServer() (string, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer r.Close()
	o.server = exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "3000x2000x24", "-nolisten", "tcp")
	o.server.ExtraFiles = []*os.File{w}
	err = o.server.Start()
	w.Close()
	if err != nil {
		return "", err
	}
	display, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		return "", errors.Join(fmt.Errorf("the X server named no display: %w", err), o.close())
	}
	return strings.TrimSpace(display), nil
}

// close ends both programs.
func (o *xterm) close() error {
	if o.conn != nil {
		o.conn.Close()
	}
	for _, cmd := range []*exec.Cmd{o.term, o.server} {
		if cmd == nil || cmd.Process == nil {
			continue
		}
		cmd.Process.Kill()
		cmd.Wait() // killed: its status says nothing
	}
	return nil
}

// relay is what runs inside xterm: everything the terminal says goes to the socket and back.
func relay(socket string) error {
	c, err := net.Dial("unix", socket)
	if err != nil {
		return err
	}
	defer c.Close()
	go io.Copy(c, os.Stdin) // ends with this process
	_, err = io.Copy(os.Stdout, c)
	return err
}

// ask writes b, then a question whose answer ends with end, and returns all answers.
func (o *xterm) ask(b string, end string) (string, error) {
	if err := o.conn.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
		return "", err
	}
	if _, err := io.WriteString(o.conn, b); err != nil {
		return "", err
	}
	var got []byte
	for !bytes.HasSuffix(got, []byte(end)) {
		part, err := o.in.ReadBytes(end[len(end)-1])
		if err != nil {
			return "", fmt.Errorf("xterm does not answer: %w", err)
		}
		got = append(got, part...)
	}
	return string(got), nil
}

// The mark that ends answers: no session asks for this mode.
const (
	markQuestion = "\x1b[?4242$p"
	markAnswer   = "\x1b[?4242;0$y"
)

// marked asks as ask does, with the mark as the end, and returns what came before it.
func (o *xterm) marked(b string) (string, error) {
	got, err := o.ask(b+markQuestion, markAnswer)
	return strings.TrimSuffix(got, markAnswer), err
}

// resize asks for a size until xterm has it.
func (o *xterm) resize(cols, rows int) error {
	if o.cols == cols && o.rows == rows {
		return nil
	}
	request := fmt.Sprintf(cancel+"\x1b[8;%d;%dt", rows, cols)
	want := fmt.Sprintf("\x1b[8;%d;%dt", rows, cols)
	for end := time.Now().Add(answerTimeout); ; {
		got, err := o.ask(request+"\x1b[18t", "t")
		if err != nil {
			return err
		}
		if got == want || strings.HasSuffix(got, want) {
			o.cols, o.rows = cols, rows
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("xterm does not take the size %dx%d: %q", cols, rows, got)
		}
		request = ""
	}
}

// freshTerminal makes the state of an xterm just started, whatever was before. DECNRCM goes first: while it is set xterm
// reads no UTF-8. The stacks of titles and renditions, of ten each, outlast a reset.
var freshTerminal = cancel + "\x1b\\\x1b[?42l" + strings.Repeat("\x1b[23t\x1b[#}", 10) + "\x1b]2;\x1b\\\x1b[?1049l\x1bc\x1b[!p\x1b[?47h\x1b[2J\x1b7\x1b[?47l\x1b[r\x1b[m\x1b[H\x1b[2J\x1b[3J\x1b7"

// run feeds the session and reads the screen.
func (o *xterm) run(s *session) (screen, error) {
	if _, err := o.marked(freshTerminal); err != nil {
		return screen{}, err
	}
	if err := o.resize(s.cols, s.rows); err != nil {
		return screen{}, err
	}
	// Growing leaves lines of before behind, so once more.
	if _, err := o.marked(freshTerminal); err != nil {
		return screen{}, err
	}
	replies, text := "", ""
	for _, st := range s.steps {
		text += st.bytes
		if st.cols == 0 {
			continue
		}
		got, err := o.marked(text + cancel) // not step by step: the mark would end a sequence that goes on
		if err != nil {
			return screen{}, err
		}
		replies, text = replies+got, ""
		if err := o.resize(st.cols, st.rows); err != nil {
			return screen{}, err
		}
	}
	got, err := o.marked(text + cancel)
	if err != nil {
		return screen{}, err
	}
	replies += got
	last, err := o.marked(finalQuestions)
	if err != nil {
		return screen{}, err
	}
	out := screen{replies: replies + last}
	title, err := o.marked("\x1b[21t")
	if err != nil {
		return screen{}, err
	}
	if out.title = strings.TrimSuffix(strings.TrimPrefix(title, "\x1b]l"), "\x1b\\"); out.title == "xterm" {
		out.title = "" // its own name, until there is another
	}
	if err := out.cursorFrom(last); err != nil {
		return screen{}, err
	}
	return out, o.readCells(&out)
}

var stateReport = regexp.MustCompile(`^\x1bP1\$r(\d+);\d+r\x1b\\\x1bP1\$r(\d+);\d+s\x1b\\\x1b\[\?6;(\d)\$y\x1b\[(\d+);(\d+)R$`)

// cursorFrom reads the cursor from the answers to finalQuestions.
func (s *screen) cursorFrom(answers string) error {
	m := stateReport.FindStringSubmatch(answers)
	if m == nil {
		return fmt.Errorf("xterm's state is %q", answers)
	}
	var v [5]int
	for i := range v {
		v[i], _ = strconv.Atoi(m[i+1])
	}
	s.x, s.y = v[4]-1, v[3]-1
	if v[2] == 1 { // origin mode: relative to the margins
		s.x, s.y = s.x+v[1]-1, s.y+v[0]-1
	}
	return nil
}

var (
	sumAnswer   = regexp.MustCompile(`\x1bP\d+!~([0-9A-F]{4})\x1b\\`)
	styleAnswer = regexp.MustCompile(`\x1b\[([0-9;:]*)m`)
)

// readCells asks for the text and the style of each cell.
func (o *xterm) readCells(s *screen) error {
	var sums, styles strings.Builder
	for y := 1; y <= o.rows; y++ {
		for x := 1; x <= o.cols; x++ {
			fmt.Fprintf(&sums, "\x1b[1;1;%d;%d;%d;%d*y", y, x, y, x)
			fmt.Fprintf(&styles, "\x1b[%d;%d;%d;%d#|", y, x, y, x)
		}
	}
	gotSums, err := o.marked("\x1b[?6l" + sums.String())
	if err != nil {
		return err
	}
	gotStyles, err := o.marked(styles.String())
	if err != nil {
		return err
	}
	text := sumAnswer.FindAllStringSubmatch(gotSums, -1)
	style := styleAnswer.FindAllStringSubmatch(gotStyles, -1)
	if len(text) != o.cols*o.rows || len(style) != len(text) {
		return fmt.Errorf("%w: xterm told %d sums and %d styles of %d cells", errNoVerdict, len(text), len(style), o.cols*o.rows)
	}
	for y := range o.rows {
		var line []cell
		for x := range o.cols {
			i := y*o.cols + x
			sum, _ := strconv.ParseUint(text[i][1], 16, 16)
			c := styleOf(style[i][1])
			if c.base = rune(sum); sum == 0 { // 0x5f of the line drawing set
				c.base = ' '
			}
			line = append(line, c)
		}
		s.rows = append(s.rows, line)
	}
	return nil
}

// styleOf reads SGR parameters as XTREPORTSGR gives them.
func styleOf(params string) cell {
	var c cell
	for p := range strings.SplitSeq(params, ";") {
		n, _ := strconv.Atoi(p)
		switch {
		case n >= 1 && n <= 9 && n != 4 && n != 6:
			c.attrs |= map[int]rendition{1: bold, 2: dim, 3: italic, 5: blink, 7: inverse, 8: hidden, 9: strike}[n]
		case n == 4:
			c.underline = max(c.underline, 1)
		case n == 21:
			c.underline = 2
		case n >= 30 && n <= 37:
			c.fg = strconv.Itoa(n - 30)
		case n >= 90 && n <= 97:
			c.fg = strconv.Itoa(n - 90 + 8)
		case n >= 40 && n <= 47:
			c.bg = strconv.Itoa(n - 40)
		case n >= 100 && n <= 107:
			c.bg = strconv.Itoa(n - 100 + 8)
		case strings.HasPrefix(p, "38:"):
			c.fg = colonColor(p)
		case strings.HasPrefix(p, "48:"):
			c.bg = colonColor(p)
		}
	}
	return c
}

// colonColor reads 38:5:n or 38:2::r:g:b.
func colonColor(p string) string {
	f := strings.Split(p, ":")
	if f[1] == "5" {
		return f[2]
	}
	var rgb [3]int
	for i := range rgb {
		rgb[i], _ = strconv.Atoi(f[len(f)-3+i])
	}
	return fmt.Sprintf("#%02x%02x%02x", rgb[0], rgb[1], rgb[2])
}
