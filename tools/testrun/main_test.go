package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const stream = `{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:7: tmux is not installed\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:9: the corpus is not beside the checkout\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestC","Output":"why\n"}
{"Action":"fail","Package":"p","Test":"TestC"}
{"Action":"output","Package":"p","Test":"TestD","Output":"chatter\n"}
{"Action":"pass","Package":"p","Test":"TestD"}
{"Action":"pass","Package":"p","Elapsed":1.5}
`

func TestSkipsForWantOfAToolFailAStrictRun(t *testing.T) {
	for _, strict := range []bool{false, true} {
		var out bytes.Buffer
		r := newReport(&out)
		require.NoError(t, r.read(strings.NewReader(stream)))
		require.Equal(t, strict, r.finish(strict))
		text := out.String()
		require.Contains(t, text, "p TestA: a_test.go:7: tmux is not installed")
		require.Equal(t, strict, strings.Contains(text, "SKIP  p TestA"))
		require.Contains(t, text, "skip  p TestB")
		require.Contains(t, text, "why\n")
		require.NotContains(t, text, "chatter")
		require.Contains(t, text, "2 passed, 1 failed, 2 skipped")
	}
}

func TestAHangShowsItsStacks(t *testing.T) {
	var out bytes.Buffer
	r := newReport(&out)
	require.NoError(t, r.read(strings.NewReader(`{"Action":"output","Package":"p","Test":"TestE","Output":"stacks\n"}
{"Action":"output","Package":"q","Test":"TestF","Output":"of another\n"}
{"Action":"fail","Package":"p","Elapsed":240}
`)))
	require.Contains(t, out.String(), "stacks\nFAIL  p")
	require.NotContains(t, out.String(), "of another")
}
