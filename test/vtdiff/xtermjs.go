package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// xtermjs is xterm.js in a Node.js process, see vt-oracle's README for the protocol.
type xtermjs struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// startXtermjs copies the oracle in dir into scratch, installs what its lock file names, and starts it.
func startXtermjs(dir, scratch string) (*xtermjs, error) {
	for _, name := range []string{"oracle.mjs", "package.json", "package-lock.json"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(scratch, name), b, 0o600); err != nil {
			return nil, err
		}
	}
	install := exec.Command("npm", "ci", "--no-audit", "--no-fund")
	install.Dir = scratch
	if out, err := install.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("npm ci: %w: %s", err, out)
	}
	cmd := exec.Command("node", filepath.Join(scratch, "oracle.mjs"))
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &xtermjs{cmd, in, bufio.NewReaderSize(out, 1<<20)}, nil
}

// close ends the process.
func (o *xtermjs) close() error {
	o.in.Close()
	return o.cmd.Wait()
}

// jsStep is one operation of the protocol.
type jsStep struct {
	Op         string `json:"op"`
	Cols       int    `json:"cols,omitempty"`
	Rows       int    `json:"rows,omitempty"`
	Scrollback int    `json:"scrollback,omitempty"`
	Unicode    string `json:"unicode,omitempty"`
	B64        []byte `json:"b64,omitempty"`
	Attrs      bool   `json:"attrs,omitempty"`
	Cells      bool   `json:"cells,omitempty"`
	History    bool   `json:"history,omitempty"`
	Modes      bool   `json:"modes,omitempty"`
}

type jsLine struct {
	T string
	W int
	R [][3]int
	C []*string
}

type jsDump struct {
	Cursor struct {
		X, Y    int
		Pending bool
	}
	Lines, Scrollback []jsLine
	Styles            []map[string]any
	Title             string
}

// errNoVerdict: the voice failed on this input, which says nothing about the others.
var errNoVerdict = errors.New("no verdict")

// run feeds the session and reads the screen.
func (o *xtermjs) run(s *session) (screen, error) {
	steps := []jsStep{{Op: "new", Cols: s.cols, Rows: s.rows, Scrollback: 1000, Unicode: "11"}}
	for _, st := range s.steps {
		if st.cols != 0 {
			steps = append(steps, jsStep{Op: "write", B64: []byte(cancel)}, jsStep{Op: "resize", Cols: st.cols, Rows: st.rows})
		} else if st.bytes != "" {
			steps = append(steps, jsStep{Op: "write", B64: []byte(st.bytes)})
		}
	}
	steps = append(steps, jsStep{Op: "write", B64: []byte(cancel)},
		jsStep{Op: "dump", Attrs: true, Cells: true, History: true, Modes: true})
	b, err := json.Marshal(map[string]any{"op": "run", "steps": steps})
	if err != nil {
		return screen{}, err
	}
	if _, err := o.in.Write(append(b, '\n')); err != nil {
		return screen{}, err
	}
	line, err := o.out.ReadBytes('\n')
	if err != nil {
		return screen{}, err
	}
	var answer struct {
		OK    bool
		Error string
		Dumps []jsDump
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return screen{}, err
	}
	if !answer.OK || len(answer.Dumps) != 1 {
		return screen{}, fmt.Errorf("%w: %s", errNoVerdict, answer.Error)
	}
	cols, _ := s.size()
	return answer.Dumps[0].screen(cols), nil
}

func (d *jsDump) screen(cols int) screen {
	out := screen{x: d.Cursor.X, y: d.Cursor.Y, pending: d.Cursor.Pending, title: d.Title}
	for i := range d.Lines {
		out.rows = append(out.rows, d.cells(&d.Lines[i], cols))
		out.wrapped = append(out.wrapped, i+1 < len(d.Lines) && d.Lines[i+1].W == 1)
	}
	for i, l := range d.Scrollback {
		next := d.Lines[0]
		if i+1 < len(d.Scrollback) {
			next = d.Scrollback[i+1]
		}
		out.history = append(out.history, line{l.T, next.W == 1})
	}
	return out
}

func (d *jsDump) cells(l *jsLine, cols int) []cell {
	row := make([]cell, cols)
	for x := range row {
		row[x] = jsStyle(nil)
	}
	for _, r := range l.R {
		style := jsStyle(d.Styles[r[2]])
		for x := r[0]; x < r[0]+r[1]; x++ {
			row[x] = style
		}
	}
	for x, text := range l.C {
		switch {
		case text == nil:
			row[x].base = spacer
		default:
			var marks string
			if row[x].base, marks = baseOf(*text); marks != "" {
				row[x].extra = strings.Replace(row[x].extra, noMarks, fmt.Sprintf("marks=%q", marks), 1)
			}
		}
	}
	for x := range row {
		if row[x].attrs&hidden != 0 {
			row[x].base = ' '
		}
	}
	return row
}

func jsStyle(m map[string]any) cell {
	str := func(key string) string {
		if v, ok := m[key]; ok {
			return fmt.Sprint(v)
		}
		return ""
	}
	c := cell{base: ' ', fg: str("fg"), bg: str("bg")}
	for name, a := range map[string]rendition{
		"bold": bold, "dim": dim, "italic": italic, "blink": blink, "inverse": inverse, "invisible": hidden, "strike": strike,
	} {
		if m[name] != nil {
			c.attrs |= a
		}
	}
	if u, ok := m["underline"].(float64); ok {
		c.underline = uint8(u)
	}
	c.extra = extraOf("", m["overline"] != nil, str("ul"), str("url"), str("urlId"))
	return c
}
