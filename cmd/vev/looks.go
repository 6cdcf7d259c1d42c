package main

import (
	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/predict"
)

// looks is how a terminal is attached, as far as the session does not know.
type looks struct {
	nest    bool
	predict predictMode
}

func (l *looks) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&l.nest, "nest", false, "attach even inside a session")
	f.Var(&l.predict, "predict", "show keys before their answer: `WHEN` is adaptive (on a slow link), always or never")
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
