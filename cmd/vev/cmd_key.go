package main

import (
	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
)

// completeKeys are the keys offered by completion; the daemon knows more (see the help text).
var completeKeys = []string{
	"Enter", "Tab", "Escape", "Space", "Backspace", "Up", "Down", "Left", "Right", "Home", "End", "PageUp", "PageDown",
	"Insert", "Delete", "F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11", "F12",
	"C-a", "C-c", "C-d", "C-e", "C-l", "C-r", "C-u", "C-z",
}

func (c *cli) cmdKey() *cobra.Command {
	var g guards
	cmd := &cobra.Command{
		Use:   "key NAME [--at-prompt] [--json] KEY...",
		Short: "Press keys in a session",
		Long: `Press keys in a session, as a terminal in the mode that the program has set would
send them. A key is one character, or one of

  Enter Tab Escape Space Backspace Up Down Left Right Home End PageUp PageDown
  Insert Delete Begin Menu F1 to F24 KP0 to KP9 KPEnter KPAdd KPSubtract
  KPMultiply KPDivide KPDecimal

with any of C- (Ctrl), M- (Alt), S- (Shift), D- (Super) before it. What few modes
have a form for, like C-1 or S-Enter, needs a program that asked for it. All keys
are known and have a form, or none is pressed.

As JSON the answer is one object with session and keys, their number; it comes when
the program's terminal has taken them.`,
		Example: `  vev key work C-c
  vev key work Escape : w q Enter
  vev key work Up Enter
  vev key work F5 M-x S-Tab`,
		Args: namedCount(2, 1+protocol.MaxKeys, 1),
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return c.sessionNames(cmd.Context(), nil), cobra.ShellCompDirectiveNoFileComp
			}
			return completeKeys, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: addressed(func(cmd *cobra.Command, a domain.Address, args []string) error {
			for _, key := range args[1:] {
				if key == "" || len(key) > protocol.MaxKeyBytes {
					return fault.New(fault.Usage, "bad key %q", fault.Clean(key)).WithHint("vev key --help names the keys")
				}
			}
			session, err := g.session(c, a)
			if err != nil {
				return err
			}
			if err := session.Press(cmd.Context(), args[1:]...); err != nil {
				return err
			}
			return g.answer(c, entered{Session: session.Address(), Keys: len(args) - 1})
		}),
	}
	g.flags(cmd)
	return cmd
}
