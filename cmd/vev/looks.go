package main

import (
	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/adapters/config"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/predict"
)

// looks is how a terminal is attached, as far as the session does not know.
type looks struct {
	nest    bool
	predict predictMode
	inline  bool
	watch   bool                   // as a live view
	given   func(flag string) bool // whether an option was given
}

func (l *looks) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	l.given = f.Changed
	f.BoolVar(&l.inline, "inline", false, "draw in the main screen and its history; --inline=false: on the alternate one")
	f.BoolVar(&l.nest, "nest", false, "attach even inside a session")
	f.Var(&l.predict, "predict", "show keys before their answer: `WHEN` is adaptive (on a slow link), always or never")
}

// verb is what the command does with a terminal.
func (l *looks) verb() string {
	if l.watch {
		return "watch"
	}
	return "attach"
}

// settle takes the settings for what no option says.
func (l *looks) settle(c config.Config) {
	if l.given == nil || !l.given("inline") {
		l.inline = c.Inline
	}
	if l.given == nil || !l.given("predict") {
		l.predict.Mode = c.Predict
	}
}

// predictMode is the value of --predict.
type predictMode struct{ predict.Mode }

func (m *predictMode) Type() string { return "WHEN" }

func (m *predictMode) Set(name string) error {
	mode, ok := predict.ParseMode(name)
	if !ok {
		return fault.New(fault.Usage, "it is adaptive, always or never")
	}
	m.Mode = mode
	return nil
}
