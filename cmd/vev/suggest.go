package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
)

// suggest gives err, that there is no session where a command's first argument says, a hint that names one on another
// machine: one of that name, or the one whose name is nearest where none at the address's own machine is near. It asks what
// is known already and says nothing of what fails.
func (c *cli) suggest(cmd *cobra.Command, err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	args := cmd.Flags().Args()
	if !ok || e.Kind != fault.NotFound || !namesSession(cmd) || len(args) == 0 {
		return err
	}
	a, bad := domain.ParseAddress(args[0])
	if bad != nil || a.Name == "" {
		return err
	}
	here, there := a.Host.String(), map[string]string{} // addresses of sessions elsewhere, by name
	var names, others []string
	for _, s := range c.warm(cmd.Context()).sessions {
		if s.Host == here {
			names = append(names, s.Name)
		} else if _, known := there[s.Name]; !known {
			there[s.Name] = addressOf(&s)
			others = append(others, s.Name)
		}
	}
	found, exact := there[a.Name]
	switch {
	case slices.Contains(names, a.Name):
		return err // something else was not found
	case !exact && domain.Nearest(a.Name, names) == "":
		found = there[domain.Nearest(a.Name, others)]
	}
	if found == "" {
		return err
	}
	hinted := *e
	return hinted.WithHint("did you mean %q?", found)
}

// afar has the hint of another machine's daemon, which knows its sessions by their names alone, say the address that the command
// was given.
func afar(cmd *cobra.Command, err error) error {
	e, ok := errors.AsType[*fault.Error](err)
	args := cmd.Flags().Args()
	if !ok || len(args) == 0 || cmd.GroupID != groupSessions && cmd.GroupID != groupPrograms {
		return err
	}
	a, bad := domain.ParseAddress(args[0])
	if bad != nil || a.Host.Local() || a.Name == "" {
		return err
	}
	words := strings.Split(e.Hint, " ")
	for i := 2; i < len(words); i++ {
		if words[i] == a.Name && words[i-2] == "vev" {
			words[i] = a.String()
		}
	}
	hinted := *e
	hinted.Hint = strings.Join(words, " ")
	return &hinted
}

// namesSession reports whether a command's first argument is the address of a session that is to be there.
func namesSession(cmd *cobra.Command) bool {
	return (cmd.GroupID == groupSessions || cmd.GroupID == groupPrograms) && cmd.Name() != "new" && cmd.Name() != "ls"
}
