package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/pelletier/go-toml/v2"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/predict"
	"github.com/vev-term/vev/internal/protocol"
)

const (
	// maxFileBytes bounds a configuration file; a longer one is refused.
	maxFileBytes = 64 << 10
	// maxCopyArgs bounds the words of copy_command.
	maxCopyArgs = 64
	// MaxAttachHistory bounds attach_history.
	MaxAttachHistory = 100_000
)

// Config is what the user chose, and the defaults of the rest.
type Config struct {
	Leader        byte     // control byte of the leader key
	Inline        bool     // style = "inline"
	Mouse         bool     // wheel and mouse are the client's where the program does not take them
	AttachHistory int      // lines of history that are there at once after attaching
	History       int      // lines that a new session keeps
	CopyCommand   []string // gets what is copied on its standard input; nil: none
	Predict       predict.Mode
	QUICPorts     [2]uint16 // the first and the last UDP port for brokers of other machines; zeros: any
	Audit         AuditMode // what is kept of the input of programs
}

// AuditMode says what the log of what programs type keeps of an input.
type AuditMode string

// The modes.
const (
	AuditHash AuditMode = "hash"
	AuditText AuditMode = "text"
	AuditOff  AuditMode = "off"
)

// Default is the configuration without a file.
func Default() Config {
	return Config{Leader: 0x1c, Mouse: true, AttachHistory: 200, History: 10_000, Audit: AuditHash}
}

// file is what may stand in the file, in the order of docs/config.md.
type file struct {
	Leader        *string   `toml:"leader"`
	Style         *string   `toml:"style"`
	Mouse         *bool     `toml:"mouse"`
	AttachHistory *int64    `toml:"attach_history"`
	History       *int64    `toml:"history"`
	CopyCommand   *[]string `toml:"copy_command"`
	Predict       *string   `toml:"predict"`
	QUICPorts     *string   `toml:"quic_ports"`
	Audit         *string   `toml:"audit"`
}

// setting is a name and what it may be.
type setting struct{ name, allowed string }

// settings are made when something is wrong, not at each start.
func settings() []setting {
	return []setting{
		{"leader", `a control key like "C-\\" or "C-b", but not C-[, C-i, C-j or C-m`},
		{"style", `"full" or "inline"`},
		{"mouse", "true or false"},
		{"attach_history", fmt.Sprintf("a number from 0 to %d", MaxAttachHistory)},
		{"history", fmt.Sprintf("a number from 1 to %d", protocol.MaxKeptLines)},
		{"copy_command", `a list of words like ["xsel", "-ib"]`},
		{"predict", `"adaptive", "always" or "never"`},
		{"quic_ports", `a range of UDP ports like "60000-60100"`},
		{"audit", `"hash", "text" or "off"`},
	}
}

// Read reads the file at path; one that is not there is the default. The fault, of kind Usage, names file and line and
// says in one line what may stand there.
func Read(path string) (Config, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return Default(), nil
	}
	if err != nil {
		return Config{}, fault.Wrap(fault.Usage, err, "the configuration cannot be read")
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return Config{}, fault.Wrap(fault.Usage, err, "%s cannot be read", path)
	}
	if len(data) > maxFileBytes {
		return Config{}, fault.New(fault.Usage, "%s has more than %d bytes", path, maxFileBytes)
	}
	return parse(path, data)
}

func parse(path string, data []byte) (Config, error) {
	var f file
	d := toml.NewDecoder(bytes.NewReader(data))
	if err := d.DisallowUnknownFields().Decode(&f); err != nil {
		return Config{}, refuse(path, err)
	}
	c := Default()
	for _, check := range []struct {
		name string
		set  func() bool
	}{
		{"leader", func() bool { return f.Leader == nil || c.setLeader(*f.Leader) }},
		{"style", func() bool { return f.Style == nil || c.setStyle(*f.Style) }},
		{"mouse", func() bool { return set(&c.Mouse, f.Mouse) }},
		{"attach_history", func() bool { return number(&c.AttachHistory, f.AttachHistory, 0, MaxAttachHistory) }},
		{"history", func() bool { return number(&c.History, f.History, 1, protocol.MaxKeptLines) }},
		{"copy_command", func() bool { return f.CopyCommand == nil || c.setCopyCommand(*f.CopyCommand) }},
		{"predict", func() bool { return f.Predict == nil || c.setPredict(*f.Predict) }},
		{"quic_ports", func() bool { return f.QUICPorts == nil || c.setQUICPorts(*f.QUICPorts) }},
		{"audit", func() bool { return f.Audit == nil || c.setAudit(*f.Audit) }},
	} {
		if !check.set() {
			return Config{}, wrong(path, lineOf(data, check.name), check.name)
		}
	}
	return c, nil
}

func set[T any](dst, value *T) bool {
	if value != nil {
		*dst = *value
	}
	return true
}

func number(dst *int, value *int64, least, most int64) bool {
	if value == nil {
		return true
	}
	*dst = int(*value)
	return *value >= least && *value <= most
}

// setLeader takes "C-" and a character that has a control byte. Escape begins every other key, and the bytes of Tab and
// Enter are typed all the time.
func (c *Config) setLeader(name string) bool {
	char, ok := strings.CutPrefix(strings.ToUpper(name), "C-")
	if !ok || len(char) != 1 || char[0] < '@' || char[0] > '_' || strings.Contains("@[IJM", char) {
		return false
	}
	c.Leader = char[0] & 0x1f
	return true
}

func (c *Config) setStyle(name string) bool {
	c.Inline = name == "inline"
	return c.Inline || name == "full"
}

func (c *Config) setPredict(name string) (ok bool) {
	c.Predict, ok = predict.ParseMode(name)
	return ok
}

// setQUICPorts takes "FIRST-LAST", or one port.
func (c *Config) setQUICPorts(ports string) bool {
	first, last, ranged := strings.Cut(ports, "-")
	if !ranged {
		last = first
	}
	from, ferr := strconv.ParseUint(strings.TrimSpace(first), 10, 16)
	to, terr := strconv.ParseUint(strings.TrimSpace(last), 10, 16)
	c.QUICPorts = [2]uint16{uint16(from), uint16(to)}
	return ferr == nil && terr == nil && from > 0 && from <= to
}

func (c *Config) setAudit(mode string) bool {
	c.Audit = AuditMode(mode)
	return c.Audit == AuditHash || c.Audit == AuditText || c.Audit == AuditOff
}

func (c *Config) setCopyCommand(words []string) bool {
	c.CopyCommand = words
	return len(words) > 0 && len(words) <= maxCopyArgs && words[0] != "" && !strings.Contains(strings.Join(words, ""), "\x00")
}

// wrong says what a setting may be.
func wrong(path string, line int, name string) error {
	for _, s := range settings() {
		if s.name == name {
			return fault.New(fault.Usage, "%s:%d: %s must be %s", path, line, name, s.allowed)
		}
	}
	panic("config: no setting " + name)
}

// refuse turns what the parser says into one line.
func refuse(path string, err error) error {
	if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(strict.Errors) > 0 {
		return unknown(path, &strict.Errors[0])
	}
	bad, ok := errors.AsType[*toml.DecodeError](err)
	if !ok {
		return fault.Wrap(fault.Usage, err, "%s is not TOML", path)
	}
	line, _ := bad.Position()
	if key := bad.Key(); len(key) > 0 {
		for _, s := range settings() {
			if s.name == key[0] {
				return wrong(path, line, s.name)
			}
		}
	}
	return fault.New(fault.Usage, "%s:%d: %s", path, line, fault.Clean(strings.TrimPrefix(bad.Error(), "toml: ")))
}

// unknown says what there is instead of a name.
func unknown(path string, bad *toml.DecodeError) error {
	line, _ := bad.Position()
	name := fault.Clean(strings.Join(bad.Key(), "."))
	all := settings()
	names := make([]string, len(all))
	for i, s := range all {
		names[i] = s.name
	}
	if near := domain.Nearest(name, names); near != "" {
		return fault.New(fault.Usage, "%s:%d: there is no setting %q, did you mean %s?", path, line, name, near)
	}
	return fault.New(fault.Usage, "%s:%d: there is no setting %q; there are %s", path, line, name, strings.Join(names, ", "))
}

// lineOf is the line of a setting that the parser has found in the file.
func lineOf(data []byte, name string) int {
	for i, line := range bytes.Split(data, []byte("\n")) {
		key, _, ok := bytes.Cut(line, []byte("="))
		if ok && string(bytes.Trim(key, " \t\"'")) == name {
			return i + 1
		}
	}
	return 1
}
