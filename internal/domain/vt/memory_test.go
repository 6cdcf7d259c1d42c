package vt

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// footprint is the memory that v holds, in bytes: of slices and buffers what they have room for. Each pointer
// counts once.
func footprint(v reflect.Value, seen map[uintptr]bool) int {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || seen[v.Pointer()] {
			return 0
		}
		seen[v.Pointer()] = true
		return int(v.Type().Elem().Size()) + footprint(v.Elem(), seen)
	case reflect.String:
		return v.Len()
	case reflect.Slice:
		n := v.Cap() * int(v.Type().Elem().Size())
		for i := range v.Len() {
			if !hasPointers(v.Type().Elem()) {
				break
			}
			n += footprint(v.Index(i), seen)
		}
		return n
	case reflect.Map:
		const overhead = 2 // a map has room for about as much again
		n := 0
		for it := v.MapRange(); it.Next(); {
			n += overhead*int(v.Type().Key().Size()+v.Type().Elem().Size()) + footprint(it.Key(), seen) + footprint(it.Value(), seen)
		}
		return n
	case reflect.Struct:
		n := 0
		for i := range v.NumField() {
			n += footprint(v.Field(i), seen)
		}
		return n
	}
	return 0
}

func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.String, reflect.Slice, reflect.Map:
		return true
	case reflect.Array:
		return hasPointers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if hasPointers(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

func memory(t *Terminal) int { return footprint(reflect.ValueOf(t), map[uintptr]bool{}) }

// mostMemory is the bound: two screens and what a smaller size keeps below, the history, the side tables, one string on
// its way, the events and answers nobody took, and small change.
func mostMemory(o Options) int {
	row := o.Cols*16 + 200
	screens := (2*o.Rows + maxBelow) * row
	history := max(o.HistoryBytes/chunkBytes, minChunks) * chunkBytes
	if o.HistoryBytes == 0 {
		history = min(defaultHistoryBytes, o.HistoryLines*max(row, 100)+minChunks*chunkBytes)
	}
	clusters := maxClusters * (2*maxClusterBytes + 3*16 + 2*24)
	sides := (maxSides + 1) * 4 * 16
	links := 3*maxLinksBytes + maxLinks*(2*32+3*24)
	return screens + history + clusters + sides + links + 2*clipboardString + 2*maxEventBytes + 2*maxReplyBytes + 1<<20
}

// TestMemoryIsBounded: no hostile input makes a terminal hold more, and events and answers that nobody takes count.
func TestMemoryIsBounded(t *testing.T) {
	o := Options{Cols: 60, Rows: 20, HistoryLines: 200}
	inputs := map[string]func(i int) string{
		"long clipboard": func(int) string { return "\x1b]52;c;" + strings.Repeat("YWJj", 1<<20) + "\x07" },
		"long clipboards": func(i int) string {
			return "\x1b]52;" + strings.Repeat("c", i%16) + ";" + strings.Repeat("YWJj", 1<<18) + "\x07"
		},
		"unended clipboard": func(int) string { return "\x1b]52;c;" + strings.Repeat("x", 1<<20) },
		"unended string":    func(int) string { return "\x1b]2;" + strings.Repeat("x", 1<<16) },
		"notifications": func(i int) string {
			return fmt.Sprintf("\x1b]777;notify;%d%s;%s\x07", i, strings.Repeat("t", 4000), strings.Repeat("b", 4000))
		},
		"statuses": func(i int) string {
			return fmt.Sprintf("\x1b]7501;id=a%d:state=working:msg=%s\x07", i, strings.Repeat("YWJj", 600))
		},
		"open notes":  func(i int) string { return fmt.Sprintf("\x1b]99;i=%d:d=0;%s\x07", i, strings.Repeat("x", 4000)) },
		"title stack": func(i int) string { return fmt.Sprintf("\x1b]2;%d%s\x07\x1b[22t", i, strings.Repeat("x", 1000)) },
		"colour stack": func(i int) string {
			return fmt.Sprintf("\x1b]4;%d;#%06d\x07\x1b[#P\x1b[%d#P", i%256, i%1000000, i%20)
		},
	}
	for name := range hostile {
		inputs[name] = func(i int) string { return hostileInput(name, i) }
	}
	for name, input := range inputs {
		t.Run(name, func(t *testing.T) {
			tm := New(o)
			for i, n := 0, 0; i < repeats(name) && n < 12<<20; i++ {
				in := input(i)
				tm.Write([]byte(in))
				n += len(in)
			}
			require.LessOrEqual(t, memory(tm), mostMemory(o))
		})
	}
}

// TestMemoryOfAnyInput: the same for everything that the grammar of sequences makes, with sizes that change.
func TestMemoryOfAnyInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := anyOptions(t)
		tm := New(o)
		for range rapid.IntRange(1, 20).Draw(t, "inputs") {
			tm.Write([]byte(strings.Repeat(anyInput(t), rapid.SampledFrom([]int{1, 1, 5, 100}).Draw(t, "times"))))
			if rapid.IntRange(0, 5).Draw(t, "resize") == 0 {
				o.Cols, o.Rows = rapid.IntRange(1, 30).Draw(t, "cols"), rapid.IntRange(1, 9).Draw(t, "rows")
				tm.Resize(o.Cols, o.Rows)
			}
		}
		require.LessOrEqual(t, memory(tm), mostMemory(o))
	})
}

// TestFootprintCounts: the measure sees what each kind of thing holds.
func TestFootprintCounts(t *testing.T) {
	tm := New(Options{Cols: 60, Rows: 20, HistoryLines: 100_000})
	before := memory(tm)
	require.GreaterOrEqual(t, before, 60*20*16)
	for _, in := range []string{
		strings.Repeat("a line of text\r\n", 10_000), "\x1b]52;c;" + strings.Repeat("YWJj", 1<<18) + "\x07", "\x1b]2;" + strings.Repeat("x", 1<<18),
	} {
		tm.Write([]byte(in))
		after := memory(tm)
		require.Greater(t, after, before+100_000)
		before = after
	}
}
