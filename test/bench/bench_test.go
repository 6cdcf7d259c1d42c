//go:build linux

package main

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/domain/vt"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == programArg {
		runProgram(os.Args[2:])
	}
	os.Exit(m.Run())
}

func TestQuantileInterpolates(t *testing.T) {
	require.Equal(t, 0.0, quantile(nil, 0.5))
	require.Equal(t, 7.0, quantile([]float64{7}, 0.99))
	require.Equal(t, 2.5, quantile([]float64{4, 1, 3, 2}, 0.5))
	require.InDelta(t, 3.97, quantile([]float64{4, 1, 3, 2}, 0.99), 1e-9)
}

func TestTablePrintsMediansAndRatios(t *testing.T) {
	tab := newTable("title", "tmux", "raw")
	for _, v := range []float64{10, 30, 20} {
		tab.add("tmux", "ms", v)
	}
	tab.add("vev", "ms", 15)
	var out strings.Builder
	tab.print(&out, []string{"raw", "tmux", "vev"}, time.Second)
	require.Equal(t, `
title (1s)

                 ms
  tmux         20.0
  vev          15.0
  vev / tmux  0.750
`, out.String())
}

// TestTargets holds values on both sides of a limit and of the gate's slack.
func TestTargets(t *testing.T) {
	judge := func(vev float64) (string, int) {
		tab := newTable("")
		tab.add("tmux", "ms", 100)
		tab.add("vev", "ms", vev)
		var out strings.Builder
		missed := printTargets(&out, targets, map[string]*table{"attach": tab}, false)
		return out.String(), missed
	}
	met, missed := judge(130)
	require.Contains(t, met, "met")
	require.Zero(t, missed)
	little, missed := judge(140)
	require.Contains(t, little, "MISSED")
	require.Zero(t, missed, "within the slack")
	_, missed = judge(170)
	require.Equal(t, 1, missed)
}

func TestEveryTargetNamesATable(t *testing.T) {
	known := map[string]bool{}
	for _, entry := range tables {
		known[entry.name] = true
	}
	for _, g := range targets {
		require.True(t, known[g.table], g.table)
	}
}

// TestScanFindsMarkCutAnywhere feeds the mark in two writes, cut at each place, and once without it before the end.
func TestScanFindsMarkCutAnywhere(t *testing.T) {
	stream := []byte("xx@@DON@@DONE@@yy")
	for cut := range stream {
		var fds [2]int
		require.NoError(t, unix.Pipe2(fds[:], unix.O_CLOEXEC))
		c := &client{ctx: context.Background(), master: fds[0], buf: make([]byte, 64)}
		found := make(chan error, 1)
		go func() {
			_, err := c.scan(doneMark)
			found <- err
		}()
		for _, part := range [][]byte{stream[:cut], stream[cut:]} {
			for _, piece := range bytes.SplitAfter(part, []byte("N")) {
				if len(piece) > 0 {
					_, err := unix.Write(fds[1], piece)
					require.NoError(t, err)
				}
			}
		}
		require.NoError(t, <-found, "cut at %d", cut)
		unix.Close(fds[1])
		_, err := c.scan(doneMark)
		require.ErrorIs(t, err, errEnded)
		unix.Close(fds[0])
	}
}

// TestKeysAreSeen types through a bare pty into the echo program.
func TestKeysAreSeen(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	b := &bench{ctx: t.Context(), self: self, dir: t.TempDir()}
	took, err := b.echoOnce(allPeers("")[0], idle, 2*keysPerRow)
	require.NoError(t, err)
	require.Len(t, took, 2*keysPerRow)
	for _, v := range took {
		require.Positive(t, v)
	}
}

func TestEveryNetTargetNamesATable(t *testing.T) {
	for _, g := range netTargets {
		require.True(t, slices.ContainsFunc(netTables, tableNamed(g.table)), g.table)
	}
}

// TestProcessTable: what draws a frame by its changes draws the same as what draws it whole.
func TestProcessTable(t *testing.T) {
	screens := [2]*vt.Terminal{}
	tables := [2]*processes{newProcesses(), newProcesses()}
	for i := range screens {
		screens[i] = vt.New(vt.Options{Cols: termCols, Rows: termRows})
	}
	for frame := 1; frame <= 20; frame++ {
		for i, s := range screens {
			_, _ = s.Write([]byte(tables[i].frame(frame, i == 0)))
		}
		one, two := &client{screen: screens[0]}, &client{screen: screens[1]}
		for y := 1; y < termRows; y++ { // the first row tells the time
			require.Equal(t, one.row(y), two.row(y), "frame %d", frame)
		}
	}
}

func TestStrokesOfALine(t *testing.T) {
	var rows []string
	for _, s := range strokes("> ", "ab <<X^^") {
		rows = append(rows, s.row)
	}
	require.Equal(t, []string{"> a", "> ab", "> ab", "> ab", "> ab", "> aXb", "> ab", "> b"}, rows)
}

func TestStampsAreRead(t *testing.T) {
	c := &client{screen: vt.New(vt.Options{Cols: termCols, Rows: termRows})}
	_, ok := c.stampIn(bottomUp()...)
	require.False(t, ok)
	_, _ = c.screen.Write([]byte("T=1111111111111 old\r\nxx T=1700000000000 yy\r\nT=12"))
	at, ok := c.stampIn(bottomUp()...)
	require.True(t, ok)
	require.EqualValues(t, 1700000000000, at.UnixMilli())
}

// TestNetTables runs a table across a link, with vev alone: that everything it needs fits together.
func TestNetTables(t *testing.T) {
	switch {
	case os.Getuid() == 0:
	case os.Getenv("VEV_TEST_STRICT") == "1":
		t.Fatal("the links take root for network namespaces, and VEV_TEST_STRICT=1 wants every test")
	default:
		t.Skip("the links take root for network namespaces")
	}
	require.NoError(t, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
	self, err := os.Executable()
	require.NoError(t, err)
	b := &bench{ctx: t.Context(), self: self, dir: t.TempDir(), quick: true}
	b.vev, err = b.findVev("")
	require.NoError(t, err)
	require.NoError(t, b.setUpNet(vevName))
	tab := newTable("")
	require.NoError(t, b.netAttach(tab))
	require.Empty(t, tab.notes)
	took, ok := tab.median(vevName, "0% ms")
	require.True(t, ok)
	require.Greater(t, took, millis(usualRTT), "an attach needs a round trip at least")
}
