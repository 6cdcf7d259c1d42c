package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/domain/predict"
	"github.com/vev-term/vev/internal/testkit/doctable"
)

func TestSettings(t *testing.T) {
	c, err := parse("f", []byte(`
leader = "C-b"            # like another one
style = "inline"
mouse = false
attach_history = 0
history = 1_000_000
copy_command = ["xsel", "-ib"]
predict = "never"
quic_ports = "60000-60100"
audit = "text"
`))
	require.NoError(t, err)
	require.Equal(t, Config{
		Leader: 2, Inline: true, History: 1_000_000, CopyCommand: []string{"xsel", "-ib"}, Predict: predict.Never,
		QUICPorts: [2]uint16{60000, 60100}, Audit: AuditText,
	}, c)
	c, err = parse("f", nil)
	require.NoError(t, err)
	require.Equal(t, Default(), c)
	for name, b := range map[string]byte{`C-\`: 0x1c, "C-a": 1, "c-A": 1, "C-]": 0x1d, "C-_": 0x1f} {
		c, err := parse("f", []byte("leader = '"+name+"'"))
		require.NoError(t, err, name)
		require.Equal(t, b, c.Leader, name)
	}
}

func TestWhatIsWrongIsSaidInOneLine(t *testing.T) {
	for text, says := range map[string]string{
		"\nstile = 1":                    `f:2: there is no setting "stile", did you mean style?`,
		"zoom = 1":                       `f:1: there is no setting "zoom"; there are leader, style, mouse, attach_history, history, copy_command, predict, quic_ports`,
		"[table]\na = 1":                 `there is no setting "table`,
		"# c\n\nstyle = \"ful\"":         `f:3: style must be "full" or "inline"`,
		"style = 3":                      `f:1: style must be "full" or "inline"`,
		"mouse = \"yes\"":                `f:1: mouse must be true or false`,
		"attach_history = -1":            `f:1: attach_history must be a number from 0 to 100000`,
		"attach_history = 100001":        `f:1: attach_history must be`,
		"history = 0":                    `f:1: history must be a number from 1 to 10000000`,
		"history = 10000001":             `f:1: history must be`,
		"history = 1e3":                  `f:1: history must be`,
		"leader = 'x'":                   `f:1: leader must be a control key like "C-\\" or "C-b", but not C-[, C-i, C-j or C-m`,
		"leader = 'C-m'":                 "f:1: leader must be",
		"leader = 'C-['":                 "f:1: leader must be",
		"leader = 'C-ü'":                 "f:1: leader must be",
		"copy_command = 'xsel -ib'":      `f:1: copy_command must be a list of words like ["xsel", "-ib"]`,
		"quic_ports = '9-8'":             `f:1: quic_ports must be a range of UDP ports like "60000-60100"`,
		"quic_ports = '0-8'":             `f:1: quic_ports must be a range of UDP ports like "60000-60100"`,
		"quic_ports = '1-65536'":         `f:1: quic_ports must be a range of UDP ports like "60000-60100"`,
		"predict = 'no'":                 `f:1: predict must be "adaptive", "always" or "never"`,
		"copy_command = []":              "f:1: copy_command must be",
		"copy_command = ['']":            "f:1: copy_command must be",
		"copy_command = [\"a\\u0000\"]":  "f:1: copy_command must be",
		"mouse = true\nmouse = false":    "f:2: ",
		"style =":                        "f:1: ",
		"style = \"full\" mouse = false": "f:1: ",
		"copy_command = [" + strings.Repeat("'x',", maxCopyArgs+1) + "]": "f:1: copy_command must be",
	} {
		_, err := parse("f", []byte(text))
		require.ErrorContains(t, err, says, text)
		require.Equal(t, fault.Usage, fault.KindOf(err), text)
		require.NotContains(t, err.Error(), "\n", text)
	}
}

func TestFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	c, err := Read(path)
	require.NoError(t, err, "none is the default")
	require.Equal(t, Default(), c)
	require.NoError(t, os.WriteFile(path, []byte("mouse = false\n"+strings.Repeat("#", maxFileBytes-14)), 0o600))
	c, err = Read(path)
	require.NoError(t, err)
	require.False(t, c.Mouse)
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("#", maxFileBytes+1)), 0o600))
	_, err = Read(path)
	require.ErrorContains(t, err, "more than 65536 bytes")
	_, err = Read(filepath.Dir(path))
	require.Error(t, err)
}

func FuzzParse(f *testing.F) {
	f.Add("leader = 'C-b'\nhistory = 5")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := parse("f", []byte(text)); err != nil {
			require.NotContains(t, err.Error(), "\n")
		}
	})
}

// The page for users names every setting, and no other.
func TestThePageHasEverySetting(t *testing.T) {
	var named []string
	for _, row := range doctable.Rows(t, "../../../docs/config.md", "settings") {
		named = append(named, row[0])
	}
	want := make([]string, 0, len(settings()))
	for _, s := range settings() {
		want = append(want, s.name)
	}
	require.Equal(t, want, named)
}
