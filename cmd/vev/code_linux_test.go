package main

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// The process goes on as before with far less of its executable in memory.
func TestReleaseCode(t *testing.T) {
	resident := func() int {
		b, err := os.ReadFile("/proc/self/smaps_rollup")
		require.NoError(t, err)
		m := regexp.MustCompile(`Pss_File: +(\d+) kB`).FindSubmatch(b)
		require.NotNil(t, m)
		kb, err := strconv.Atoi(string(m[1]))
		require.NoError(t, err)
		return kb
	}
	before := resident()
	releaseCode()
	require.Less(t, resident(), before*3/4)
}

func TestCodeMapping(t *testing.T) {
	for line, ok := range map[string]bool{
		"00400000-00750000 r-xp 00000000 fe:00 123 /usr/bin/vev":           true,
		"00750000-00b00000 r--p 00350000 fe:00 123 /usr/bin/vev":           true,
		"00b00000-00b20000 rw-p 00700000 fe:00 123 /usr/bin/vev":           false,
		"7f0000000000-7f0000010000 r-xp 00000000 fe:00 9 /usr/bin/vev.old": false,
		"7f0000000000-7f0000010000 r-xp 00000000 00:00 0 [vdso]":           false,
		"Rss:                4 kB":                                         false,
		"":                                                                 false,
	} {
		from, to, got := codeMapping(line, "/usr/bin/vev")
		require.Equal(t, ok, got, line)
		require.Equal(t, ok, from < to, line)
	}
}
