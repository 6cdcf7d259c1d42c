package audit

import (
	"bufio"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/ports"
)

func lines(t *testing.T, path string) (list []map[string]any) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var m map[string]any
		require.NoError(t, json.Unmarshal(s.Bytes(), &m))
		list = append(list, m)
	}
	return list
}

func TestTextsAreNotKeptUnlessAskedFor(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, mode := range []Mode{Hash, Text, Off} {
		path := filepath.Join(t.TempDir(), "audit.log")
		l := New(path, mode, slog.New(slog.DiscardHandler))
		for _, data := range []string{"secret", "secret", "other"} {
			l.Record(ports.AuditEntry{At: at, Name: "work", Author: "ci", Kind: "type", Data: []byte(data)})
		}
		l.Record(ports.AuditEntry{At: at, Kind: "keys", Refused: "locked"})
		require.NoError(t, l.Close())
		if mode == Off {
			require.NoFileExists(t, path)
			continue
		}
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode())
		got := lines(t, path)
		require.Len(t, got, 4)
		require.EqualValues(t, 6, got[0]["bytes"])
		require.Equal(t, "locked", got[3]["refused"])
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, mode == Text, strings.Contains(string(raw), "secret"))
		if mode == Hash {
			require.Equal(t, got[0]["hash"], got[1]["hash"])
			require.NotEqual(t, got[0]["hash"], got[2]["hash"])
		}
	}
}

func TestTheFileIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	l := New(path, Text, slog.New(slog.DiscardHandler))
	e := ports.AuditEntry{Name: "work", Kind: "type", Data: []byte(strings.Repeat("x", 2*maxText))}
	for range 2*maxBytes/maxText + 10 {
		l.Record(e)
	}
	require.NoError(t, l.Close())
	for _, name := range []string{path, path + ".1"} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.LessOrEqual(t, info.Size(), int64(maxBytes))
	}
	require.Len(t, lines(t, path)[0]["text"], maxText)
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 2)
}
