package main

import (
	"errors"
	"fmt"
)

// verdict is who stands alone.
type verdict uint8

const (
	agreed verdict = iota
	// oursAlone: both others agree against the engine, or the only other that knows the input does.
	oursAlone
	xtermAlone
	xtermjsAlone
	noneAgree
	// unstable: not the same when asked again.
	unstable
	// unjudged: out of scope, or one of the others failed on the input.
	unjudged
)

func (v verdict) String() string {
	return [...]string{"agreed", "ours alone", "xterm alone", "xterm.js alone", "none agree", "unstable", "unjudged"}[v]
}

// What each pair of voices can tell of a screen. Answers are compared with xterm only: xterm.js answers for itself.
var (
	oursXterm   = aspects{replies: true, title: true}
	oursXtermjs = aspects{pending: true, extra: true, title: true}
	both        = aspects{}
)

// judge holds the voices.
type judge struct {
	xterm   *xterm
	xtermjs *xtermjs
}

// outcome is what the voices said.
type outcome struct {
	verdict verdict
	detail  string
}

// try gives the session to all voices that know it.
func (j *judge) try(s *session) (outcome, error) {
	if why := outOfScope(s); why != "" {
		return outcome{unjudged, why}, nil
	}
	ours := runOurs(s)
	var real, js screen
	var err error
	useXterm, useJS := s.profile.xterm, s.profile.xtermjs
	if useXterm {
		if real, err = j.xterm.run(s); errors.Is(err, errNoVerdict) { // its report of a style is garbled now and then
			return outcome{unjudged, err.Error()}, nil
		} else if err != nil {
			return outcome{}, err
		}
	}
	if useJS {
		js, err = j.xtermjs.run(s)
		switch {
		case errors.Is(err, errNoVerdict) && useXterm:
			useJS = false
		case errors.Is(err, errNoVerdict):
			return outcome{unjudged, err.Error()}, nil
		case err != nil:
			return outcome{}, err
		}
	}
	return weigh(s, &ours, &real, &js, useXterm, useJS), nil
}

func weigh(s *session, ours, real, js *screen, useXterm, useJS bool) outcome {
	var toXterm, toJS, between string
	if useXterm {
		toXterm = ours.difference(real, oursXterm)
	}
	if useJS {
		as := oursXtermjs
		as.reflow = s.profile.resizes && s.profile.prologue == ""
		toJS = ours.difference(js, as)
	}
	if useXterm && useJS {
		between = real.difference(js, both)
	}
	switch {
	case toXterm == "" && toJS == "":
		return outcome{}
	case !useJS || !useXterm || toXterm != "" && toJS != "" && between == "":
		return outcome{oursAlone, fmt.Sprintf("ours or xterm: %s; ours or xterm.js: %s", toXterm, toJS)}
	case toXterm == "":
		return outcome{xtermjsAlone, "ours or xterm.js: " + toJS}
	case toJS == "":
		return outcome{xtermAlone, "ours or xterm: " + toXterm}
	}
	return outcome{noneAgree, fmt.Sprintf("ours or xterm: %s; ours or xterm.js: %s; xterm or xterm.js: %s", toXterm, toJS, between)}
}
