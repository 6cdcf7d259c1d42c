package predict

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/vt"
)

// typing is one key of somebody who types on a slow link, with the states of the keys before: four keys in flight, in a
// terminal of 200 columns with text behind the cursor.
func typing(tb testing.TB) (step func()) {
	term := vt.New(vt.Options{Cols: 200, Rows: 50})
	p := New(Always)
	now := time.Unix(1000, 0)
	var typed, settled uint64
	echo := func() {
		term.Write([]byte("\x1b[@x"))
		settled++
		p.Shown(term, settled, settled, now)
	}
	start := func() {
		term.Write([]byte("\r\x1b[K$ tail\b\b\b\b"))
		p.Shown(term, typed, typed, now)
		settled = typed
	}
	start()
	return func() {
		if typed-settled == 0 && term.Cursor().Col > 150 {
			start()
		}
		if term.Cursor().Col > 150 {
			echo()
			return
		}
		typed++
		p.Typed(term, []byte("x"), typed, now)
		if typed-settled > 4 {
			echo()
		}
		if term.Cursor().Col == 100 && (!p.confirmed || len(p.Rows()) != 1) {
			tb.Fatal("nothing is guessed")
		}
	}
}

func BenchmarkKey(b *testing.B) {
	step := typing(b)
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
}

func TestGuessingAllocatesNothing(t *testing.T) {
	step := typing(t)
	for range 1000 {
		step()
	}
	require.Zero(t, testing.AllocsPerRun(1000, step))
}
