package main

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxShrinks bounds how often a failing session is tried smaller.
const maxShrinks = 600

// shrink returns a session that gives the same verdict when tried and from which no step can be left out, as far as
// maxShrinks allows.
func shrink(s *session, want verdict, try func(*session) (outcome, error)) (*session, error) {
	tries := 0
	still := func(steps []step) (bool, error) {
		if tries++; tries > maxShrinks {
			return false, nil
		}
		o, err := try(&session{s.profile, s.cols, s.rows, steps})
		return err == nil && o.verdict == want, err
	}
	steps := s.steps
	kept := 0
	if s.profile.prologue != "" {
		kept = 1
	}
	for size := (len(steps) + 1) / 2; size >= 1; size /= 2 {
		for at := kept; at < len(steps); {
			smaller := append(append([]step(nil), steps[:at]...), steps[min(at+size, len(steps)):]...)
			ok, err := still(smaller)
			if err != nil {
				return nil, err
			}
			if ok {
				steps = smaller
			} else {
				at += size
			}
		}
	}
	for i := range steps {
		for {
			smaller, err := shorter(steps, i, still)
			if err != nil {
				return nil, err
			}
			if smaller == nil {
				break
			}
			steps = smaller
		}
	}
	return &session{s.profile, s.cols, s.rows, steps}, nil
}

// shorter drops characters of a text step, half of them or one, and returns nil where no shorter one does.
func shorter(steps []step, i int, still func([]step) (bool, error)) ([]step, error) {
	b := steps[i].bytes
	if len(b) < 2 || strings.ContainsFunc(b, unicode.IsControl) {
		return nil, nil
	}
	_, first := utf8.DecodeRuneInString(b)
	_, last := utf8.DecodeLastRuneInString(b)
	half := len(b) / 2
	for half > 0 && !utf8.RuneStart(b[half]) {
		half--
	}
	for _, text := range []string{b[:half], b[half:], b[:len(b)-last], b[first:]} {
		if len(text) == len(b) {
			continue
		}
		smaller := append([]step(nil), steps...)
		smaller[i].bytes = text
		if ok, err := still(smaller); err != nil || ok {
			return smaller, err
		}
	}
	return nil, nil
}
