package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/protocol"
	"github.com/vev-term/vev/internal/talk"
)

type newOptions struct {
	address  domain.Address
	detached bool
	json     bool
	dir      string
	set      []string // K=V
	size     string   // CxR
	policy   string   // of the size
	looks    looks
	history  int // lines; 0 is the user's setting
}

func (c *cli) cmdNew() *cobra.Command {
	var o newOptions
	cmd := &cobra.Command{
		Use: "new [NAME] [-d] [-c DIR] [-e K=V]... [--size CxR] [--size-policy P] [--history N] [--inline] [--nest] " +
			"[--predict WHEN] [--json] [-- CMD ARG...]",
		Short: "Make a session and attach to it",
		Long: `Make a session and attach to it. It runs your login shell or the command after --,
with this environment and in this directory. Without a name it gets the lowest
free number. HOST:NAME or HOST: makes it there, reached with your ssh: with that
machine's environment, in its home directory.

The size follows the client that is used last; another --size-policy is smallest or
largest, of all clients, or fixed: at --size. vev resize changes it.

With -d nothing is attached and the name is printed, behind the host if it is not here;
with --json the object that vev ls --json has for it.`,
		Example: `  vev new
  vev new work
  vev new desk:work
  vev new pair --size-policy smallest
  vev new build -d -c ~/src/vev -- make test
  vev new -d --size 132x43 -e LANG=C.UTF-8 -- top`,
		Args: func(cmd *cobra.Command, args []string) error {
			names := len(args)
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				names = dash
			}
			if o.json && !o.detached {
				return usage(cmd, "new: --json needs -d")
			}
			if names > 1 {
				return fault.New(fault.Usage, "new: unexpected argument %q", args[1]).
					WithHint("put -- before the command: vev new NAME -- CMD ARG...")
			}
			if err := checkNames(cmd, args[:names]); err != nil {
				return err
			}
			var err error
			o.address, err = addressIn(args[:names], 0)
			return err
		},
		ValidArgsFunction: completeNew,
		RunE: func(cmd *cobra.Command, args []string) error {
			var argv []string
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				argv = args[dash:]
			}
			return c.newSession(cmd.Context(), o, argv)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&o.detached, "detached", "d", false, "do not attach; print the name")
	f.BoolVar(&o.json, "json", false, "with -d: answer as JSON")
	f.StringVarP(&o.dir, "dir", "c", "", "start in directory `DIR`")
	f.StringArrayVarP(&o.set, "env", "e", nil, "set a variable, `K=V`; may be given again")
	f.StringVar(&o.size, "size", "", "`CxR` columns and rows, like 132x43, until a terminal attaches")
	f.StringVar(&o.policy, "size-policy", domain.SizeLatest.String(), "whose size `P` it has: latest, smallest, largest or fixed")
	f.IntVar(&o.history, "history", 0, "keep `N` lines that left the screen, at most 10,000,000")
	o.looks.flags(cmd)
	_ = cmd.MarkFlagDirname("dir")
	_ = cmd.RegisterFlagCompletionFunc("size-policy", cobra.FixedCompletions(sizePolicies(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// completeNew has nothing for a new name, and commands after --.
func completeNew(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if cmd.ArgsLenAtDash() >= 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// newSession makes a session and, unless it is to stay detached, attaches in the same
// conversation.
func (c *cli) newSession(ctx context.Context, o newOptions, argv []string) error {
	create, err := o.create(argv)
	if err != nil {
		return err
	}
	if !o.detached {
		return c.attach(ctx, o.address.Host, &protocol.Attach{Create: create}, o.looks)
	}
	t, err := c.begin(ctx, o.address.Host, protocol.StartIfNeeded)
	if err != nil {
		return err
	}
	// The conversation ends with the process: in order, that takes a twentieth of the command.
	answer, err := talk.BodyOf[*protocol.Sessions](t.Ask(0, &protocol.New{Create: *create}))
	if err != nil {
		return err
	}
	if len(answer.List) != 1 {
		return fault.New(fault.Violation, "the daemon named %d sessions for a new one", len(answer.List))
	}
	if o.json {
		var host *string
		if o.address.Host != (domain.Host{}) {
			name := o.address.Host.String()
			host = &name
		}
		return c.printJSON(newSessionJSON(&answer.List[0], host))
	}
	fmt.Fprintln(c.out, domain.Address{Host: o.address.Host, Name: answer.List[0].Name})
	return nil
}

// create checks the options and the surroundings before anything is dialled.
func (o newOptions) create(argv []string) (*protocol.Create, error) {
	create := &protocol.Create{Name: o.address.Name, Command: domain.Command{Argv: argv}}
	var err error
	if create.HistoryLines, err = o.keptLines(); err != nil {
		return nil, err
	}
	if o.size != "" {
		if create.Size, err = parseSize(o.size); err != nil {
			return nil, err
		}
	}
	if o.policy != "" {
		if create.Policy, err = domain.ParseSizePolicy(o.policy); err != nil {
			return nil, err
		}
	}
	return create, talk.Surround(create, o.address.Host, o.dir, o.set)
}

// keptLines is how much history the session keeps.
func (o newOptions) keptLines() (int, error) {
	if o.history < 0 || o.history > protocol.MaxKeptLines {
		return 0, fault.New(fault.Usage, "bad history %d", o.history).
			WithHint("it is a number of lines from 1 to %d; 0 is the setting in the configuration", protocol.MaxKeptLines)
	}
	if o.history > 0 {
		return o.history, nil
	}
	settings, err := userConfig()
	return settings.History, err
}

func parseSize(text string) (domain.Size, error) {
	cols, rows, ok := strings.Cut(text, "x")
	size := domain.Size{}
	var errC, errR error
	size.Cols, errC = strconv.Atoi(cols)
	size.Rows, errR = strconv.Atoi(rows)
	if !ok || errC != nil || errR != nil || !size.Valid() {
		return domain.Size{}, fault.New(fault.Usage, "bad size %q", text).
			WithHint("a size is COLUMNSxROWS, from 1x1 to %dx%d, like 132x43", domain.MaxCols, domain.MaxRows)
	}
	return size, nil
}
