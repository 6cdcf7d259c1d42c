package main

import (
	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
)

// addressHelp says in the commands' help what NAME may be.
const addressHelp = `NAME is a session here; HOST:NAME, USER@HOST:NAME and ssh://USER@HOST:PORT/NAME are
elsewhere, reached with your ssh.`

// addressIn is the address in argument i, or that of the session used last here.
func addressIn(args []string, i int) (domain.Address, error) {
	if i >= len(args) {
		return domain.Address{}, nil
	}
	return domain.ParseAddress(args[i])
}

// addressed is a command's work on the address in its first argument.
func addressed(run func(cmd *cobra.Command, a domain.Address, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a, err := addressIn(args, 0)
		if err != nil {
			return err
		}
		return run(cmd, a, args)
	}
}
