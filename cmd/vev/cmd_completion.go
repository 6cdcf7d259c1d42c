package main

import (
	"github.com/spf13/cobra"
)

func (c *cli) cmdCompletion() *cobra.Command {
	shells := []string{"bash", "zsh", "fish", "powershell"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print the shell completion script",
		Long: `Print the script that teaches a shell to complete commands, options and the names
of the sessions that run.`,
		Example: `  bash        source <(vev completion bash)        in ~/.bashrc
  zsh         vev completion zsh > "${fpath[1]}/_vev"
  fish        vev completion fish > ~/.config/fish/completions/vev.fish
  powershell  vev completion powershell | Out-String | Invoke-Expression`,
		Args: argCount(1, 1),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return shells, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(c.out, true)
			case "zsh":
				return root.GenZshCompletion(c.out)
			case "fish":
				return root.GenFishCompletion(c.out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(c.out)
			}
			return usage(cmd, "no completion for shell %q", args[0])
		},
	}
}
