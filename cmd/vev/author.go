package main

import (
	"cmp"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/protocol"
)

// envAuthor names who types, for the log of what programs have typed.
const envAuthor = "VEV_AUTHOR"

// authorFlag is the option with which a program says who it is.
func authorFlag(cmd *cobra.Command, author *string) {
	cmd.Flags().StringVar(author, "author", "", "who types, for the log: `WHO` (default: $VEV_AUTHOR, or user, host and process)")
	before := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		*author = cmp.Or(*author, os.Getenv(envAuthor), surroundings())
		if len(*author) > protocol.MaxAuthorBytes {
			return usage(cmd, "%s: --author has %d bytes, at most %d", cmd.Name(), len(*author), protocol.MaxAuthorBytes)
		}
		if before != nil {
			return before(cmd, args)
		}
		return nil
	}
}

// surroundings is who started this process, as far as that is known.
func surroundings() string {
	name := cmp.Or(os.Getenv("USER"), os.Getenv("LOGNAME"), strconv.Itoa(os.Getuid()))
	host, _ := os.Hostname()
	return name + "@" + host + " " + strconv.Itoa(os.Getppid())
}
