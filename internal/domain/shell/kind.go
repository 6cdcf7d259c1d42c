package shell

import (
	"path"
	"slices"
	"strings"
)

// Kind is a family of shells that take the same line.
type Kind uint8

// The families. None is every other program.
const (
	None Kind = iota
	Posix
	Bash
	Zsh
	Fish
)

func (k Kind) String() string { return [...]string{"none", "sh", "bash", "zsh", "fish"}[k] }

// Edits reports whether the shell edits its line itself: at its prompt the terminal then gives it each key, and
// while a command runs it does not.
func (k Kind) Edits() bool { return k >= Bash }

func family(program string) Kind {
	switch program {
	case "sh", "dash", "ash", "ksh", "ksh93", "mksh", "loksh", "oksh":
		return Posix
	case "bash", "rbash":
		return Bash
	case "zsh", "rzsh":
		return Zsh
	case "fish":
		return Fish
	}
	return None
}

// valued are options of shells that take the next word.
var valued = []string{"--rcfile", "--init-file", "-o", "+o", "-O", "+O", "-C", "--init-command", "-d", "--debug", "-f"}

// Of says which shell reads its commands from the terminal under a command line: a shell that runs a script, or what
// -c gives it, is None.
func Of(argv []string) Kind {
	if len(argv) > 1 && path.Base(argv[0]) == "busybox" {
		argv = argv[1:]
	}
	if len(argv) == 0 {
		return None
	}
	kind := family(strings.TrimPrefix(path.Base(argv[0]), "-"))
	for i := 1; i < len(argv) && kind != None; i++ {
		word := argv[i]
		switch {
		case word == "-" || word == "--":
			if i+1 < len(argv) {
				return None
			}
		case slices.Contains(valued, word):
			i++
		case !strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "+"):
			if !slices.Contains(argv[:i], "-s") {
				return None // a script
			}
		case !strings.HasPrefix(word, "--") && strings.Contains(word, "c"), word == "--command":
			return None
		}
	}
	return kind
}
