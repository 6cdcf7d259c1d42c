package main

import (
	"bufio"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// releaseCode unmaps the pages of the executable that were never written to. It changes nothing that
// the process can see, and fails silently: it only saves memory.
func releaseCode() {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer f.Close()
	var from, to uint64 // of the mapping at hand, if it is one to give back
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		text := lines.Text()
		if low, high, ok := codeMapping(text, exe); ok {
			from, to = low, high
			continue
		}
		// A page that was written to, as by a relocation, is the process's own and would be lost.
		if kb, ok := strings.CutPrefix(text, "Anonymous:"); ok {
			if strings.TrimSpace(kb) == "0 kB" && to > from {
				_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(from), uintptr(to-from), unix.MADV_DONTNEED)
			}
			from, to = 0, 0
		}
	}
}

// codeMapping reads the first line of a mapping in smaps, and reports whether it is one of the
// executable's that nobody may write to.
func codeMapping(line, exe string) (from, to uint64, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 6 || len(fields[1]) != 4 || fields[1][1] == 'w' || !strings.HasSuffix(line, " "+exe) {
		return 0, 0, false
	}
	low, high, found := strings.Cut(fields[0], "-")
	from, err1 := strconv.ParseUint(low, 16, 64)
	to, err2 := strconv.ParseUint(high, 16, 64)
	return from, to, found && err1 == nil && err2 == nil
}
