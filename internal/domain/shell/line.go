package shell

import (
	"slices"
	"strings"

	"github.com/vev-term/vev/internal/domain/fault"
)

const (
	// MaxCommandBytes bounds a command; a longer one belongs into a file.
	MaxCommandBytes = 16 << 10
	// maxCanonical is what the kernel keeps of a line that it edits for the program (N_TTY), less its end.
	maxCanonical = 4094
)

// At is where a command is typed.
type At struct {
	Kind Kind // None: not known, as behind ssh; then the shell must mark by itself
	// Marks says that the shell marks the begin and the end of each command (OSC 133).
	Marks bool
	// Canonical says that the kernel edits the line: its length is bounded then.
	Canonical bool
	// ID is that of the marks which the line prints where the shell does not: letters and digits.
	ID string
}

// Type returns the line that runs command as one whole, whatever is in it, without the Enter. The fault says what is wrong with
// the command.
//
// A command without any syntax, in a shell that marks, is typed as it is. Every other one is given
// to eval by printf, in a form that no line editor, completion or history expansion changes; a syntax
// error in it is then an error, and no question for the rest.
func (a At) Type(command string) (string, error) {
	command = strings.Trim(command, "\n")
	switch {
	case strings.TrimSpace(command) == "":
		return "", fault.New(fault.Usage, "there is no command to run")
	case len(command) > MaxCommandBytes:
		return "", fault.New(fault.Limit, "the command has %d bytes, at most %d", len(command), MaxCommandBytes).
			WithHint("put it into a file and run that")
	case strings.ContainsRune(command, 0):
		return "", fault.New(fault.Usage, "the command holds a NUL")
	}
	line := a.line(command)
	if a.Canonical && len(line) > maxCanonical {
		return "", fault.New(fault.Limit, "the command makes a line of %d bytes, the terminal takes %d from this shell", len(line), maxCanonical).
			WithHint("put it into a file and run that")
	}
	return line, nil
}

func (a At) line(command string) string {
	if a.Marks {
		if plain(command) {
			return command
		}
		return ` eval "$(printf '` + format(command) + `')"`
	}
	begin, end := printed("C;vev="+a.ID), `printf '\033]133;D;%s;vev=`+a.ID+`\007' `
	switch a.Kind {
	case Fish:
		return " " + begin + "; eval (printf '" + format(command) + "' | string collect); " + end + "$status"
	case Posix:
		// command: else a syntax error ends the whole line, and with it the mark of the end.
		return " " + begin + `; command eval "$(printf '` + format(command) + `')"; ` + end + `"$?"`
	}
	return " " + begin + `; eval "$(printf '` + format(command) + `')"; ` + end + `"$?"`
}

func printed(mark string) string { return `printf '\033]133;` + mark + `\007'` }

// untouched are the bytes that stand for themselves in every shell's single quotes and in printf's format.
const untouched = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _./:=@,+-*?|&;<>()[]{}$\"#~^`"

// format is text as a format of printf within single quotes; what any shell might change is an octal number.
func format(text string) string {
	var out strings.Builder
	for i := range len(text) {
		if c := text[i]; strings.IndexByte(untouched, c) >= 0 {
			out.WriteByte(c)
		} else {
			out.Write([]byte{'\\', '0' + c>>6, '0' + c>>3&7, '0' + c&7})
		}
	}
	return out.String()
}

// reserved words begin something that goes on behind a line's end, or are no command of all shells.
var reserved = []string{
	"if", "for", "while", "until", "case", "select", "function", "do", "then", "else", "elif", "begin", "switch", "time",
	"coproc", "repeat", "foreach", "nocorrect", "exec",
}

// plain reports whether command is nothing but words, to be typed as it is and with the same meaning in all shells.
func plain(command string) bool {
	const words = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _./:=@,+-"
	for i := range len(command) {
		if strings.IndexByte(words, command[i]) < 0 {
			return false
		}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(command), " ")
	return command[0] != ' ' && !slices.Contains(reserved, first)
}
