package main

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxMadeAtStart bounds what a package of ours may allocate before main: a channel.
const maxMadeAtStart = 4

// Every command, each vev ls of a script among them, pays for what is made before main. A table is an array or a function,
// not a map; a regexp is compiled when it is first needed; an error that is a constant is a composite literal.
func TestNothingIsMadeAtStart(t *testing.T) {
	cmd := exec.Command(binary, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var said bytes.Buffer
	cmd.Stderr = &said
	require.NoError(t, cmd.Run())
	inits := regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) allocs$`).FindAllStringSubmatch(said.String(), -1)
	require.NotEmpty(t, inits, "Go says what it makes: %s", said.String())
	ours := regexp.MustCompile(`^(github\.com/vev-term/vev/.*|main)$`)
	for _, line := range inits {
		n, err := strconv.Atoi(line[2])
		require.NoError(t, err)
		if ours.MatchString(line[1]) {
			require.LessOrEqual(t, n, maxMadeAtStart, "allocations of %s at start", line[1])
		}
	}
}
