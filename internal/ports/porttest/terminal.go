package porttest

import (
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/ports"
)

// TerminalScene is a terminal and what its user can do at the other end of it.
type TerminalScene struct {
	Terminal ports.Terminal
	User     io.ReadWriter     // types, and sees what is written; raw bytes
	Resize   func(domain.Size) // as by pulling at the window; 0x0: a terminal that does not know
	Modes    func() any        // the modes now, comparable
}

// Terminal is the suite for ports.Terminal. The scene is used up by each call.
func Terminal(t *testing.T, scene func(t *testing.T) TerminalScene) {
	t.Run("raw, restored, and again", func(t *testing.T) {
		s := scene(t)
		found := s.Modes()
		for range 2 {
			require.NoError(t, s.Terminal.Raw())
			require.NotEqual(t, found, s.Modes())
			require.NoError(t, s.Terminal.Raw(), "twice")
			require.NoError(t, s.Terminal.Restore())
			require.Equal(t, found, s.Modes())
			require.NoError(t, s.Terminal.Restore(), "twice")
		}
		require.NoError(t, s.Terminal.Raw())
		require.NoError(t, s.Terminal.Close())
		require.Equal(t, found, s.Modes(), "Close restores")
		require.NoError(t, s.Terminal.Close(), "twice")
		require.Equal(t, found, s.Modes())
	})
	t.Run("restored from many goroutines", func(t *testing.T) {
		s := scene(t)
		found := s.Modes()
		require.NoError(t, s.Terminal.Raw())
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				s.Terminal.Restore()
				s.Terminal.Size()
			})
		}
		wg.Wait()
		require.Equal(t, found, s.Modes())
		require.NoError(t, s.Terminal.Close())
	})
	t.Run("every byte arrives unchanged, both ways", func(t *testing.T) {
		s := scene(t)
		defer s.Terminal.Close()
		require.NoError(t, s.Terminal.Raw())
		all := make([]byte, 256)
		for i := range all {
			all[i] = byte(i)
		}
		_, err := s.User.Write(all)
		require.NoError(t, err)
		got := make([]byte, len(all))
		_, err = io.ReadFull(s.Terminal, got)
		require.NoError(t, err)
		require.Equal(t, all, got)

		_, err = s.Terminal.Write(all)
		require.NoError(t, err)
		got = make([]byte, len(all))
		_, err = io.ReadFull(s.User, got)
		require.NoError(t, err)
		require.Equal(t, all, got)
	})
	t.Run("a write waits for a slow terminal and loses nothing", func(t *testing.T) {
		s := scene(t)
		defer s.Terminal.Close()
		require.NoError(t, s.Terminal.Raw())
		text := make([]byte, 1<<20)
		for i := range text {
			text[i] = byte(i * 7 / 3)
		}
		wrote := make(chan error, 1)
		go func() {
			n, err := s.Terminal.Write(text)
			if err == nil && n != len(text) {
				err = io.ErrShortWrite
			}
			wrote <- err
		}()
		got := make([]byte, len(text))
		for n := 0; n < len(got); {
			m, err := s.User.Read(got[n:min(len(got), n+1+n%5000)])
			require.NoError(t, err)
			n += m
		}
		require.NoError(t, within(t, wrote))
		require.Equal(t, text, got)
	})
	t.Run("close ends a waiting read and write", func(t *testing.T) {
		s := scene(t)
		require.NoError(t, s.Terminal.Raw())
		ended := make(chan error, 2)
		go func() {
			_, err := s.Terminal.Read(make([]byte, 1))
			ended <- err
		}()
		go func() {
			_, err := s.Terminal.Write(make([]byte, 1<<20))
			ended <- err
		}()
		require.NoError(t, s.Terminal.Close())
		require.Error(t, within(t, ended))
		require.Error(t, within(t, ended))
	})
	t.Run("size", func(t *testing.T) {
		s := scene(t)
		defer s.Terminal.Close()
		for _, c := range []struct{ set, want domain.Size }{
			{domain.Size{Cols: 100, Rows: 40}, domain.Size{Cols: 100, Rows: 40}},
			{domain.Size{}, domain.DefaultSize},
			{domain.Size{Cols: 100}, domain.DefaultSize},
			{domain.Size{Cols: 5000, Rows: 5000}, domain.Size{Cols: domain.MaxCols, Rows: domain.MaxRows}},
		} {
			s.Resize(c.set)
			got, err := s.Terminal.Size()
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		}
	})
	t.Run("a resize is told, however many, once and then again", func(t *testing.T) {
		s := scene(t)
		for range 2 {
			for i := range 20 {
				s.Resize(domain.Size{Cols: 50 + i, Rows: 20})
			}
			require.Equal(t, ports.TerminalResized, within(t, s.Terminal.Events()))
			size, err := s.Terminal.Size()
			require.NoError(t, err)
			require.Equal(t, domain.Size{Cols: 69, Rows: 20}, size)
			drain(s.Terminal.Events())
		}
		require.NoError(t, s.Terminal.Close())
		_, open := <-s.Terminal.Events()
		require.False(t, open, "Close closes the channel")
	})
}

// drain takes the events of one burst that are still on their way, at most until it is quiet.
func drain(events <-chan ports.TerminalEvent) {
	for {
		select {
		case <-events:
		case <-time.After(50 * time.Millisecond):
			return
		}
	}
}
