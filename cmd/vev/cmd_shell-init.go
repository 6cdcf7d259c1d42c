package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain/shell"
)

func (c *cli) cmdShellInit() *cobra.Command {
	names := []string{shell.Bash.String(), shell.Zsh.String(), shell.Fish.String()}
	return &cobra.Command{
		Use:   "shell-init bash|zsh|fish",
		Short: "Print what makes a shell tell where it is",
		Long: `Print what makes a shell tell when it prompts, when a command begins and how it ends
(OSC 133), and in which directory it is (OSC 7). vev run, vev wait --prompt, vev events
and the state in vev ls then follow the shell's own word, also behind ssh. Put it at
the end of your shell's start-up file:

  ~/.bashrc                   eval "$(vev shell-init bash)"
  ~/.zshrc                    eval "$(vev shell-init zsh)"
  ~/.config/fish/config.fish  vev shell-init fish | source

Other terminals understand the same marks. Nothing of your prompt changes.`,
		Example:           `  vev shell-init bash >> ~/.bashrc`,
		Args:              argCount(1, 1),
		ValidArgsFunction: cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, k := range []shell.Kind{shell.Bash, shell.Zsh, shell.Fish} {
				if k.String() == args[0] {
					_, err := io.WriteString(c.out, shell.Integration(k))
					return err
				}
			}
			return usage(cmd, "shell-init: there is nothing for %q", args[0])
		},
	}
}
