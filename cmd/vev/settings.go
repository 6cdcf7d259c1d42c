package main

import (
	"log/slog"
	"strconv"
	"strings"

	"github.com/vev-term/vev/internal/adapters/audit"
	"github.com/vev-term/vev/internal/adapters/config"
	"github.com/vev-term/vev/internal/adapters/copycmd"
	"github.com/vev-term/vev/internal/adapters/rundir"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
)

// userConfig reads the user's configuration. Commands that no setting concerns do not read it, so that they work
// whatever is in it.
func userConfig() (config.Config, error) {
	path, err := rundir.ConfigPath()
	if err != nil {
		return config.Config{}, err
	}
	c, err := config.Read(path)
	if fault.KindOf(err) == fault.Usage {
		return c, fault.New(fault.Usage, "%s", err).WithHint("docs/config.md has all settings; vev doctor checks the file")
	}
	return c, err
}

// copier is the user's copy command, nil when there is none.
func copier(c config.Config) ports.Copier {
	if c.CopyCommand == nil {
		return nil
	}
	return copycmd.Command(c.CopyCommand)
}

// auditLog is the log of what programs type, as the user's configuration wants it; with a file that is wrong, as it is
// without one.
func auditLog(dir *rundir.Dir, log *slog.Logger) *audit.Log {
	c, err := userConfig()
	if err != nil {
		log.Warn("the configuration does not count", "err", err)
	}
	mode := map[config.AuditMode]audit.Mode{config.AuditText: audit.Text, config.AuditOff: audit.Off}[c.Audit]
	return audit.New(dir.Log("audit"), mode, log)
}

// checkSettings says what holds, or what is wrong in the file.
func checkSettings() finding {
	f := finding{what: "settings"}
	c, err := userConfig()
	if err != nil {
		f.level, f.says, f.todo = levelFail, err.Error(), "nothing can be attached until it is right; docs/config.md has all settings"
		return f
	}
	style := "full"
	if c.Inline {
		style = "inline"
	}
	says := []string{
		"leader C-" + strings.ToLower(string(rune(c.Leader|0x40))), "style " + style, "mouse " + strconv.FormatBool(c.Mouse),
		"attach_history " + strconv.Itoa(c.AttachHistory), "history " + strconv.Itoa(c.History),
		"predict " + c.Predict.String(), "audit " + string(c.Audit),
	}
	if c.CopyCommand != nil {
		says = append(says, "copy_command "+strings.Join(c.CopyCommand, " "))
	}
	f.says = strings.Join(says, ", ")
	return f
}
