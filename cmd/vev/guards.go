package main

import (
	"github.com/spf13/cobra"

	"github.com/vev-term/vev/client"
	"github.com/vev-term/vev/internal/domain"
)

// guards are what must hold while a program types, who it is, and how it is answered.
type guards struct {
	generation uint64
	atPrompt   bool
	author     string
	json       bool
}

const guardHelp = `

With --expect-generation or --at-prompt everything is typed while that holds, or nothing
and the exit code is 1: vev ls --json tells a session's generation, which grows when
another program or command gets the terminal. At a prompt means that the session's
shell waits for a command and nothing has been typed yet.`

func (g *guards) flags(cmd *cobra.Command) {
	cmd.Flags().Uint64Var(&g.generation, "expect-generation", 0, "only while the session's generation is `N`")
	cmd.Flags().BoolVar(&g.atPrompt, "at-prompt", false, "only at an empty prompt of a shell")
	cmd.Flags().BoolVar(&g.json, "json", false, "answer as JSON")
	authorFlag(cmd, &g.author)
	cmd.Long += guardHelp
}

// entered is the answer to a command that gave a session something: its program's terminal has taken it.
type entered struct {
	Session string `json:"session"`
	Bytes   int64  `json:"bytes,omitempty"` // of text
	Keys    int    `json:"keys,omitempty"`
}

// answer says as JSON, if that is wanted, what a session has been given.
func (g *guards) answer(c *cli, e entered) error {
	if !g.json {
		return nil
	}
	return c.printJSON(e)
}

// session is the session at a, typed into as g says.
func (g *guards) session(c *cli, a domain.Address) (*client.Session, error) {
	s, err := c.sessionAs(a, g.author)
	if err != nil {
		return nil, err
	}
	return s.Guarded(client.Guard{Generation: g.generation, AtPrompt: g.atPrompt}), nil
}
