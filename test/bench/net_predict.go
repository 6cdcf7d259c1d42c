//go:build linux

package main

import (
	"fmt"
	"os/exec"
	"strings"
	"time"
)

const (
	predictRTT  = 300 * time.Millisecond
	predictPace = 160 * time.Millisecond
	// atOnce is by when a key is shown that the link had no part in: a frame and some scheduling.
	atOnce = 50 * time.Millisecond
	// settled is how much longer than a round trip a wrong guess may stay.
	settled = 100 * time.Millisecond
	prompt  = "P>"
	secret  = "Password:"
)

// netPredict types over a slow link: a line, a line with its editing, a password, and in an editor. What a key should
// make of its row is known, so it is on time when the row shows that at once, and what a row shows is wrong when no key
// so far made it so.
func (b *bench) netPredict(t *table) error {
	for _, exe := range []string{"bash", "vim"} {
		if _, err := exec.LookPath(exe); err != nil {
			return fmt.Errorf("%w: apt-get install %s", err, exe)
		}
	}
	return b.across(t, link{rtt: predictRTT}, named(vevPredicts, moshName, moshPredicts), func(s *site) error {
		if s.name == vevPredicts { // in this table vev is what predicts
			vev := *s.netPeer
			vev.name = vevName
			s.netPeer = &vev
		}
		for i := range b.count(2, 1) {
			if err := s.shell(t, fmt.Sprintf("shell%d", i)); err != nil {
				return err
			}
			if err := s.editor(t, fmt.Sprintf("vim%d", i)); err != nil {
				return err
			}
		}
		return nil
	})
}

// stroke is a key and what its row shows once it was echoed.
type stroke struct{ key, row string }

// strokes are keys typed into a line editor behind a prefix; "<" is Left, "^" is Backspace.
func strokes(prefix, keys string) (out []stroke) {
	line, at := "", 0
	for _, k := range keys {
		key := string(k)
		switch k {
		case '<':
			key, at = "\x1b[D", max(at-1, 0)
		case '^':
			key = "\x7f"
			if at > 0 {
				line, at = line[:at-1]+line[at:], at-1
			}
		default:
			line, at = line[:at]+key+line[at:], at+1
		}
		out = append(out, stroke{key, strings.TrimRight(prefix+line, " ")})
	}
	return out
}

// typing is how a row came to show what was typed.
type typing struct{ keys, late, wrong int }

// typeStrokes types and watches one row.
func (c *client) typeStrokes(row int, all []stroke) (typing, error) {
	var r typing
	var pressed []time.Time
	was := c.row(row)
	var wrongSince time.Time
	shown := make([]bool, len(all))
	look := func() {
		now, text := time.Now(), c.row(row)
		known := text == was
		for i := range pressed {
			if text == all[i].row {
				known = true
				shown[i] = shown[i] || now.Sub(pressed[i]) <= atOnce
			}
		}
		switch {
		case known:
			wrongSince = time.Time{}
		case wrongSince.IsZero():
			wrongSince = now
		case now.Sub(wrongSince) > predictRTT+settled:
			r.wrong++
			wrongSince = now
		}
	}
	wait := func(end time.Time) error {
		for time.Now().Before(end) {
			if _, err := c.read(min(time.Until(end), 5*time.Millisecond)); err != nil {
				return err
			}
			look()
		}
		return nil
	}
	for i, s := range all {
		pressed = append(pressed, time.Now())
		if err := c.press(s.key); err != nil {
			return r, err
		}
		if err := wait(pressed[i].Add(predictPace)); err != nil {
			return r, err
		}
	}
	if err := wait(time.Now().Add(2 * predictRTT)); err != nil {
		return r, err
	}
	if last := all[len(all)-1].row; c.row(row) != last {
		return r, fmt.Errorf("the row should show %q in the end; the screen:\n%s", last, c.text())
	}
	for i, ok := range shown {
		if i > 0 && all[i].row == all[i-1].row {
			continue // a key that changes no text says nothing
		}
		r.keys++
		if !ok {
			r.late++
		}
	}
	return r, nil
}

func (s *site) note(t *table, what string, r typing) {
	t.add(s.name, what+": % late", 100*float64(r.late)/float64(r.keys))
	t.add(s.name, "wrong after an RTT", float64(r.wrong))
}

// shell types and edits lines in a shell, and a password.
func (s *site) shell(t *table, session string) error {
	ask := "stty -echo; printf '" + secret + " '; read x; stty echo; echo; echo " + doneMark
	c, err := s.open(s.create, session, []string{"env", "PS1=" + prompt + " ", "ASK=" + ask, "bash", "--norc", "--noprofile", "-i"})
	if err != nil {
		return err
	}
	defer c.close()
	if _, err := c.sees(prompt); err != nil {
		return err
	}
	if err := c.quiet(2 * predictRTT); err != nil {
		return err
	}
	for _, part := range []struct{ name, keys string }{
		{"line", "echo the quick brown fox jumps over"},
		{"edit", "git comit^^mit -a <<<<vwx^^^ <yz^^ab"},
	} {
		row := c.rowWith(prompt)
		r, err := c.typeStrokes(row, strokes(prompt+" ", part.keys))
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		s.note(t, part.name, r)
		if err := c.nextPrompt(row); err != nil {
			return err
		}
	}
	return s.password(t, c)
}

// nextPrompt gives the line up and waits for the prompt in another row.
func (c *client) nextPrompt(row int) error {
	if err := c.press("\x03"); err != nil {
		return err
	}
	if _, err := c.until("the next prompt", func() bool { return c.rowWith(prompt) > row }); err != nil {
		return err
	}
	return c.quiet(predictRTT)
}

// rowWith is the last row that holds a text, -1 without one.
func (c *client) rowWith(text string) int {
	for _, y := range bottomUp() {
		if strings.Contains(c.row(y), text) {
			return y
		}
	}
	return -1
}

// password has the shell ask for one, right after typing that was echoed, and looks for its characters.
func (s *site) password(t *table, c *client) error {
	row := c.rowWith(prompt)
	if _, err := c.typeStrokes(row, strokes(prompt+" ", `eval "$ASK"`)); err != nil {
		return err
	}
	if err := c.press("\r"); err != nil {
		return err
	}
	if _, err := c.sees(secret); err != nil {
		return err
	}
	row = c.rowWith(secret)
	seen := 0
	for _, key := range "XKQZJW4792XKQZJW" {
		if err := c.press(string(key)); err != nil {
			return err
		}
		for end := time.Now().Add(predictPace / 2); time.Now().Before(end); {
			if _, err := c.read(time.Until(end)); err != nil {
				return err
			}
			if _, rest, ok := strings.Cut(c.row(row), secret); ok && strings.ContainsAny(rest, "XKQZJW4792") {
				seen++
			}
		}
	}
	t.add(s.name, "shown of a password", float64(seen))
	if err := c.press("\r"); err != nil {
		return err
	}
	_, err := c.sees(doneMark)
	return err
}

// editor types in vim's insert mode.
func (s *site) editor(t *table, session string) error {
	c, err := s.open(s.create, session, []string{"vim", "-u", "NONE", "-N", "-n", "-i", "NONE"})
	if err != nil {
		return err
	}
	defer c.close()
	if _, err := c.until("vim", func() bool { return strings.HasPrefix(c.row(3), "~") }); err != nil {
		return err
	}
	if err := c.press("i"); err != nil {
		return err
	}
	if _, err := c.until("insert mode", func() bool { return c.rowWith("INSERT") >= 0 }); err != nil {
		return err
	}
	if err := c.quiet(2 * predictRTT); err != nil {
		return err
	}
	r, err := c.typeStrokes(0, strokes("", "the quick brown fox jumps over a dog^^^cat"))
	if err != nil {
		return fmt.Errorf("vim: %w", err)
	}
	s.note(t, "vim", r)
	return nil
}
