//go:build linux

package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
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
	tab := newTable("title")
	for _, v := range []float64{10, 30, 20} {
		tab.add("tmux", "ms", v)
	}
	tab.add("vev", "ms", 15)
	var out strings.Builder
	tab.print(&out, []string{"raw", "tmux", "vev"}, time.Second)
	require.Equal(t, `
title (1s)

                 ms
  raw             -
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
		missed := printTargets(&out, map[string]*table{"attach": tab}, false)
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
