package daemon

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

func (w *world) search(pattern string, line uint64, col int, backward bool) protocol.Found {
	synctest.Wait()
	r := w.ask(0, &protocol.Search{Session: "a", Pattern: pattern, Line: line, Col: col, Backward: backward})
	require.Nil(w.t, r.Failure)
	return *r.Body.(*protocol.Found)
}

func TestSearchGoesBothWaysOverHistoryAndScreen(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		for i := range 100 {
			p.print(fmt.Sprintf("line %d\r\n", i))
		}
		p.print("last error")
		require.Equal(t, protocol.Found{Met: true, Line: 5}, w.search("line 5", 0, 0, false))
		require.Equal(t, protocol.Found{Met: true, Line: 50}, w.search("line 5", 5, 1, false))
		require.Equal(t, protocol.Found{Met: true, Line: 59}, w.search("line 5", 100, 0, true))
		require.Equal(t, protocol.Found{Met: true, Line: 58}, w.search("line 5", 59, 0, true))
		require.Equal(t, protocol.Found{Met: true, Line: 100, Col: 5}, w.search("err.r$", 0, 0, false), "the screen too")
		require.Equal(t, protocol.Found{}, w.search("line 99", 99, 1, false))
		require.Equal(t, protocol.Found{}, w.search("x*", 0, 0, false), "nothing is no match")
		require.Equal(t, protocol.Found{Met: true, Line: 100, Col: 5}, w.search("error", 1<<63, 0, true), "beyond the end")
	})
}

func TestSearchGoesAround(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		for i := range 100 {
			p.print(fmt.Sprintf("line %d\r\n", i))
		}
		around := func(pattern string, line uint64, col int, backward bool) protocol.Found {
			synctest.Wait()
			r := w.ask(0, &protocol.Search{Session: "a", Pattern: pattern, Line: line, Col: col, Backward: backward, Around: true})
			require.Nil(t, r.Failure)
			return *r.Body.(*protocol.Found)
		}
		require.Equal(t, protocol.Found{Met: true, Line: 59}, around("line 5", 59, 0, false))
		require.Equal(t, protocol.Found{Met: true, Line: 5, Around: true}, around("line 5", 59, 1, false))
		require.Equal(t, protocol.Found{Met: true, Line: 59, Around: true}, around("line 5", 5, 0, true))
		require.Equal(t, protocol.Found{Met: true, Line: 99, Around: true}, around("line 99", 99, 0, true), "where it began")
		require.Equal(t, protocol.Found{Met: true, Line: 99, Around: true}, around("line 99", 1<<40, 0, false))
		require.Equal(t, protocol.Found{Around: true}, around("nothing", 50, 0, true))
	})
}

func TestSearchJoinsSoftWrapsAndCountsCells(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		p.print("日本" + strings.Repeat(" ", 75) + "needle\r\nend")
		require.Equal(t, protocol.Found{Met: true, Line: 0, Col: 79}, w.search("needle", 0, 0, false))
		require.Equal(t, protocol.Found{Met: true, Line: 1, Col: 2}, w.search("dle", 0, 0, false))
		require.Equal(t, protocol.Found{Met: true, Line: 0, Col: 2}, w.search("本", 0, 0, false))
		require.Equal(t, protocol.Found{Met: true, Line: 0, Col: 79}, w.search("needle", 1, 0, true))
	})
}

func TestABadPatternIsTheUsers(t *testing.T) {
	inWorld(t, func(w *world) {
		w.create("a")
		r := w.ask(0, &protocol.Search{Session: "a", Pattern: "("})
		require.Equal(t, fault.Usage, r.Failure.Kind)
		r = w.ask(0, &protocol.Search{Session: "a", Pane: 2, Pattern: "a"})
		require.Equal(t, fault.NotFound, r.Failure.Kind)
	})
}

func TestHistoryKeepsTheBlanksOfLinesThatGoOn(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.create("a")
		p.print("ab" + strings.Repeat(" ", 80) + "c   \r\n")
		synctest.Wait()
		lines := w.ask(0, &protocol.History{Session: "a", Count: 2}).Body.(*protocol.Lines).List
		require.Equal(t, "ab"+strings.Repeat(" ", 78), lines[0].Text)
		require.Equal(t, "  c", lines[1].Text)
	})
}

func TestASessionKeepsAsManyLinesAsItsCreatorSays(t *testing.T) {
	inWorld(t, func(w *world) {
		w.ask(0, &protocol.New{Create: protocol.Create{Name: "a", HistoryLines: 20}})
		p := w.ps.last()
		for i := range 100 {
			p.print(fmt.Sprintf("%d\r\n", i))
		}
		synctest.Wait()
		lines := w.ask(0, &protocol.History{Session: "a", Count: 1}).Body.(*protocol.Lines).List
		require.Equal(t, "57", lines[0].Text, "24 rows show 77 to 99 and the cursor's")
	})
}
