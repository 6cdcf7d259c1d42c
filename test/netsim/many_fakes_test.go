package netsim

import (
	"strings"
	"time"

	"github.com/vev-term/vev/internal/domain"
)

// sluggish is a program whose terminal takes a few bytes at once and the rest slowly.
type sluggish struct{ *program }

func (p *sluggish) TryWrite(b []byte) int { return p.program.TryWrite(b[:min(len(b), 100)]) }

func (p *sluggish) Write(b []byte) (int, error) {
	time.Sleep(2*time.Second + 7*time.Nanosecond)
	return p.program.Write(b)
}

// windowed reports whether a screen of some size is a window of one that the daemon had, with a border where it is larger,
// and maybe notices over the bottom.
func (o *oracle) windowed(screen string, size domain.Size) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	rows := strings.Split(screen, "\n")
	shown := withoutNotices(rows)
	if o.blurred || len(shown) < len(rows) && len(shown) == 0 || strings.TrimSpace(screen) == "" {
		return true
	}
	for had := range o.had {
		if isWindow(shown, size, had.text, had.size) {
			return true
		}
	}
	return false
}

// windowedNow is windowed of the screen that the daemon has, without notices.
func (o *oracle) windowedNow(screen string, size domain.Size) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.picture()
	return isWindow(strings.Split(screen, "\n"), size, now.text, now.size)
}

// noticeWords begin the client's notices.
var noticeWords = []string{
	"connection lost", "reconnecting", "no contact", "the session is", "attached read-only", `Ctrl-\`,
}

// withoutNotices leaves out the rows from the bottom up that are the client's.
func withoutNotices(rows []string) []string {
	for n := len(rows); n > 0; n-- {
		notice := false
		for _, word := range noticeWords {
			notice = notice || strings.HasPrefix(rows[n-1], " "+word)
		}
		if !notice {
			return rows[:n]
		}
	}
	return nil
}

// isWindow reports whether rows, the upper ones of a terminal of some size, are a window of a screen, with a border.
func isWindow(rows []string, size domain.Size, screen string, of domain.Size) bool {
	all := strings.Split(screen, "\n")
	for y := range max(0, of.Rows-size.Rows) + 1 {
		for x := range max(0, of.Cols-size.Cols) + 1 {
			if isWindowAt(rows, size, all, of, x, y) {
				return true
			}
		}
	}
	return false
}

func isWindowAt(rows []string, size domain.Size, all []string, of domain.Size, x, y int) bool {
	for i, row := range rows {
		var want string
		if y+i < len(all) {
			want = all[y+i][min(x, len(all[y+i])):]
			want = want[:min(len(want), size.Cols)]
		}
		border := max(0, size.Cols-of.Cols)
		if i >= of.Rows {
			border = size.Cols
		}
		if border > 0 {
			want += strings.Repeat(" ", size.Cols-border-len(want)) + strings.Repeat(".", border)
		}
		if strings.TrimRight(want, " ") != row {
			return false
		}
	}
	return true
}
