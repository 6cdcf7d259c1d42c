package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/testkit/doctable"
)

// verbs are the commands that cmd/vev has, a file each.
func verbs(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(root + "/cmd/vev/cmd_*.go")
	require.NoError(t, err)
	var out []string
	for _, f := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(f), "cmd_"), ".go")
		if !strings.HasSuffix(name, "_test") {
			out = append(out, name)
		}
	}
	return out
}

func TestReadmeListsTheCommands(t *testing.T) {
	var listed []string
	for _, row := range doctable.Rows(t, root+"/README.md", "commands") {
		if verb, ok := strings.CutPrefix(row[0], "vev "); ok {
			listed = append(listed, verb)
		}
	}
	require.ElementsMatch(t, verbs(t), listed)
}

// What the README tells a newcomer to type exists, and is short enough to be read.
func TestReadmeIsTrue(t *testing.T) {
	readme := read(t, "README.md")
	require.LessOrEqual(t, strings.Count(readme, "\n"), 140)
	makefile := read(t, "Makefile")
	for _, target := range regexp.MustCompile("(?m)(?:^|`)make ([a-z-]+)").FindAllStringSubmatch(readme, -1) {
		require.Regexp(t, `(?m)^`+target[1]+`:.*## `, makefile, "make %s", target[1])
	}
	for _, command := range regexp.MustCompile(`(?m)(?:^\$ |&& )vev ([a-z]+)`).FindAllStringSubmatch(readme, -1) {
		require.Contains(t, verbs(t), command[1])
	}
	for _, link := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(readme, -1) {
		_, err := os.Stat(filepath.Join(root, link[1]))
		require.NoError(t, err)
	}
}

// make help is the list of targets: one that it does not list is found by nobody.
func TestEveryTargetHasHelp(t *testing.T) {
	makefile := read(t, "Makefile")
	phony := regexp.MustCompile(`(?m)^\.PHONY: (.*)$`).FindStringSubmatch(makefile)
	require.NotNil(t, phony)
	var helped []string
	for _, m := range regexp.MustCompile(`(?m)^([a-z-]+):.*## `).FindAllStringSubmatch(makefile, -1) {
		helped = append(helped, m[1])
	}
	require.ElementsMatch(t, strings.Fields(phony[1]), helped)
}
