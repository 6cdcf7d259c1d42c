package brokerwire

import (
	"errors"
	"fmt"
	"math"

	"github.com/vev-term/vev/internal/adapters/streamframe/wirefmt"
	"github.com/vev-term/vev/internal/domain/fault"
)

// The kinds of fields below have limits. What they refuse is told as "message N: ...".

const idBytes = 16

// mistake is what is wrong with a message that is there as a whole.
func mistake(format string, args ...any) error {
	if len(args) == 0 {
		return errors.New(format)
	}
	return fmt.Errorf(format, args...)
}

func tooLong(what string, n, limit int) error {
	if n <= limit {
		return nil
	}
	return mistake("%s of %d bytes is %d over the limit of %d", what, n, n-limit, limit)
}

// tooMany is for lists: whether so many are too many.
func tooMany(what string, limit int) func(int) error {
	return func(n int) error {
		if n <= limit {
			return nil
		}
		return mistake("%d %s are %d over the limit of %d", n, what, n-limit, limit)
	}
}

// boundText is one that keeps to the limit by itself when we send it.
func boundText(f *wirefmt.Fields, num Tag, what string, s *string, limit int) {
	if wirefmt.Text(f, num, s) {
		f.Note(num, tooLong(what, len(*s), limit))
	}
}

// cleanText is for people, of at most fault.MaxText bytes; ours is cut and cleaned.
func cleanText(f *wirefmt.Fields, num Tag, what string, s *string) {
	if f.Writing() {
		clean := fault.Clean(*s)
		s = &clean
	}
	boundText(f, num, what, s, fault.MaxText)
}

// boundRaw is for what an operating system calls a string.
func boundRaw(f *wirefmt.Fields, num Tag, what string, s *string, limit int) {
	if wirefmt.Raw(f, num, s) {
		f.Note(num, tooLong(what, len(*s), limit))
	}
}

func boundData(f *wirefmt.Fields, num Tag, what string, b *[]byte, limit int) {
	if wirefmt.Data(f, num, b) {
		f.Note(num, tooLong(what, len(*b), limit))
	}
}

// id is an identity that must be there.
func id[T ~[idBytes]byte](f *wirefmt.Fields, num Tag, what string, to *T) {
	identity(f, num, what, true, to)
	if f.Missed(num) {
		f.Refuse(mistake("%s has 0 bytes, must have %d", what, idBytes))
	}
}

// optionalID is an identity that may be absent, and is not written: zero then.
func optionalID[T ~[idBytes]byte](f *wirefmt.Fields, num Tag, what string, to *T) {
	identity(f, num, what, false, to)
}

func identity[T ~[idBytes]byte](f *wirefmt.Fields, num Tag, what string, needed bool, to *T) {
	if f.Writing() && !needed && *to == (T{}) {
		return
	}
	n, taken := wirefmt.Exact(f, num, (*to)[:])
	if !taken {
		return
	}
	f.Note(num, nil)
	if n != idBytes && (needed || n > 0) {
		f.Note(num, mistake("%s has %d bytes, must have %d", what, n, idBytes))
	}
}

func choice[T ~uint32](f *wirefmt.Fields, num Tag, what string, v *T, last T) {
	if wirefmt.Uint32(f, num, v) {
		f.Note(num, nil)
		if *v > last {
			f.Note(num, mistake("%s is %d, must be 0 to %d", what, *v, last))
		}
	}
}

// small is a count; ours never come near the bound.
func small(f *wirefmt.Fields, num Tag, v *int) {
	if f.Writing() {
		bound := min(max(*v, 0), math.MaxInt32)
		v = &bound
	}
	wirefmt.Uint32(f, num, v)
}
