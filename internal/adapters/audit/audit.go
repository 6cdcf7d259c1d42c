package audit

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vev-term/vev/internal/ports"
)

const (
	// maxBytes bounds the file: then it takes the place of the one before, and a new one begins.
	maxBytes = 4 << 20
	// maxText bounds the text of an entry where texts are kept; what is longer is cut.
	maxText = 4 << 10
	// hashBytes of the keyed hash are kept: enough to tell inputs apart.
	hashBytes = 8
)

// Mode says what of an input is kept.
type Mode uint8

// The modes. Hash is the default: length, and a hash with a key that only this process has, so that equal
// inputs are seen to be equal and nobody can try out what one was.
const (
	Hash Mode = iota
	Text
	Off
)

// Log is the file. It is opened with the first entry.
type Log struct {
	path string
	mode Mode
	log  *slog.Logger
	key  [32]byte

	mu     sync.Mutex // held while an entry is written
	file   *os.File
	size   int64
	failed bool // said once
}

var _ ports.Audit = (*Log)(nil)

// New returns the log at path. Problems go to log.
func New(path string, mode Mode, log *slog.Logger) *Log {
	l := &Log{path: path, mode: mode, log: log}
	_, _ = rand.Read(l.key[:])
	return l
}

// entry is one line. Names are never changed, only added.
type entry struct {
	At      string  `json:"at"`
	Session string  `json:"session"`
	Name    string  `json:"name"`
	Author  string  `json:"author"`
	Kind    string  `json:"kind"`
	Bytes   int     `json:"bytes"`
	Hash    string  `json:"hash,omitempty"`
	Text    *string `json:"text,omitempty"`
	Refused string  `json:"refused,omitempty"`
}

// Record implements ports.Audit.
func (l *Log) Record(e ports.AuditEntry) {
	if l.mode == Off {
		return
	}
	line := entry{
		At: e.At.Format(time.RFC3339Nano), Session: e.Session.String(), Name: e.Name, Author: e.Author, Kind: e.Kind,
		Bytes: len(e.Data), Refused: e.Refused,
	}
	if l.mode == Text {
		text := strings.ToValidUTF8(string(e.Data[:min(len(e.Data), maxText)]), "\uFFFD")
		line.Text = &text
	} else if len(e.Data) > 0 {
		sum := hmac.New(sha256.New, l.key[:])
		sum.Write(e.Data)
		line.Hash = hex.EncodeToString(sum.Sum(nil)[:hashBytes])
	}
	b, err := json.Marshal(line)
	if err == nil {
		err = l.write(append(b, '\n'))
	}
	if err != nil && l.say() {
		l.log.Error("the log of what programs type cannot be written", "err", err)
	}
}

func (l *Log) say() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := !l.failed
	l.failed = true
	return first
}

func (l *Log) write(line []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil && l.size+int64(len(line)) > maxBytes {
		err := errors.Join(l.file.Close(), os.Rename(l.path, l.path+".1"))
		l.file = nil
		if err != nil {
			return err
		}
	}
	if l.file == nil {
		f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
		if err != nil {
			return err
		}
		info, err := f.Stat()
		if err != nil {
			return errors.Join(err, f.Close())
		}
		l.file, l.size = f, info.Size()
	}
	n, err := l.file.Write(line)
	l.size += int64(n)
	return err
}

// Close gives the file back.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}
