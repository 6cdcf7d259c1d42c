package client_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vev-term/vev/client"
)

func within(t *testing.T, limit time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	return ctx
}

func create(t *testing.T, o client.Create) *client.Session {
	t.Helper()
	s, err := client.New(client.Options{}).Create(within(t, 30*time.Second), o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Kill(context.Background()) })
	return s
}

func TestListSaysWhatWasCreated(t *testing.T) {
	ctx := within(t, 30*time.Second)
	dir := t.TempDir()
	s := create(t, client.Create{Name: "listed", Command: []string{"cat"}, Dir: dir, Cols: 50, Rows: 12})
	list, err := client.New(client.Options{}).List(ctx, "")
	require.NoError(t, err)
	var found []client.Info
	for _, info := range list {
		if info.Name == "listed" {
			found = append(found, info)
		}
	}
	require.Len(t, found, 1)
	info, err := s.Info(ctx)
	require.NoError(t, err)
	require.Equal(t, found[0].ID, info.ID)
	require.Equal(t, "running", info.State)
	require.Nil(t, info.Status)
	require.Equal(t, []string{"cat"}, info.Command)
	require.Equal(t, dir, info.Cwd)
	require.Equal(t, [2]int{50, 12}, [2]int{info.Cols, info.Rows})
	require.WithinDuration(t, time.Now(), info.Created, time.Minute)
}

func TestRenamedSessionIsFoundByItsNewNameAndItsID(t *testing.T) {
	ctx := within(t, 30*time.Second)
	s := create(t, client.Create{Name: "before", Command: []string{"cat"}})
	info, err := s.Info(ctx)
	require.NoError(t, err)
	require.NoError(t, s.Rename(ctx, "after"))
	c := client.New(client.Options{})
	for _, name := range []string{"after", info.ID} {
		found, err := c.Session(name)
		require.NoError(t, err)
		row, err := found.Info(ctx)
		require.NoError(t, err)
		require.Equal(t, "after", row.Name)
	}
	_, err = s.Info(ctx)
	require.Equal(t, client.NotFound, client.KindOf(err))
	found, err := c.Session("after")
	require.NoError(t, err)
	require.NoError(t, found.Kill(ctx))
}

func TestSizeAndClients(t *testing.T) {
	ctx := within(t, 30*time.Second)
	s := create(t, client.Create{Name: "sized", Command: []string{"cat"}, Cols: 90, Rows: 20})
	size := func() [3]any {
		t.Helper()
		info, err := s.Info(ctx)
		require.NoError(t, err)
		return [3]any{info.Cols, info.Rows, info.SizePolicy}
	}
	require.NoError(t, s.FollowSize(ctx, "smallest"))
	require.Equal(t, [3]any{90, 20, "smallest"}, size())
	require.NoError(t, s.Resize(ctx, 40, 10))
	require.Equal(t, [3]any{40, 10, "fixed"}, size())
	require.NoError(t, s.FollowSize(ctx, "latest"))
	require.NoError(t, s.Resize(ctx, 0, 0))
	require.Equal(t, [3]any{40, 10, "fixed"}, size())

	list, err := s.Clients(ctx)
	require.NoError(t, err)
	require.Equal(t, []client.Attached{}, list)
	list, err = client.New(client.Options{}).Clients(ctx, "")
	require.NoError(t, err)
	require.Equal(t, []client.Attached{}, list)
	require.NoError(t, s.Detach(ctx))
	require.Equal(t, client.NotFound, client.KindOf(s.DetachClient(ctx, 4711)))
	none, err := client.New(client.Options{}).Session("none")
	require.NoError(t, err)
	_, err = none.Clients(ctx)
	require.Equal(t, client.NotFound, client.KindOf(err))
	require.Equal(t, client.NotFound, client.KindOf(none.Resize(ctx, 10, 10)))
}

func TestCaptureReachesIntoHistory(t *testing.T) {
	ctx := within(t, 30*time.Second)
	s := create(t, client.Create{Command: []string{"sh", "-c", "seq 2000; printf '\\033[31mred\\033[0m'; cat"}, Rows: 24, Cols: 80})
	_, err := s.Wait(ctx, client.Condition{Text: "red"})
	require.NoError(t, err)
	screen, err := s.Capture(ctx, 1500)
	require.NoError(t, err)
	require.Len(t, screen.Lines, 1524)
	require.Equal(t, "2000", screen.Lines[1522].Text)
	require.Equal(t, "501", strings.SplitN(screen.Text(), "\n", 25)[23])
	last := screen.Lines[1523]
	require.Equal(t, "red", last.Text)
	require.Equal(t, []client.Run{{Col: 1, Len: 3, Fg: 1}}, last.Runs)
}

func TestWaitEndsWithItsContext(t *testing.T) {
	s := create(t, client.Create{Command: []string{"cat"}})
	_, err := s.Wait(within(t, 50*time.Millisecond), client.Condition{Exit: true})
	require.Equal(t, client.Timeout, client.KindOf(err), "%v", err)

	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	_, err = s.Wait(ctx, client.Condition{Exit: true})
	require.Equal(t, client.Canceled, client.KindOf(err), "%v", err)
}

func TestWrongCallsAreRefusedBeforeAnythingIsDialled(t *testing.T) {
	ctx := context.Background()
	c := client.New(client.Options{Program: "/nowhere/vev"})
	t.Setenv("VEV_HOME", filepath.Join(t.TempDir(), "none"))
	s, err := c.Session("fine")
	require.NoError(t, err)
	for what, call := range map[string]func() error{
		"address":      func() error { _, err := c.Session("a:b:c d"); return err },
		"no name":      func() error { _, err := c.Session("host:"); return err },
		"size":         func() error { _, err := c.Create(ctx, client.Create{Cols: 0, Rows: 5}); return err },
		"history":      func() error { _, err := c.Create(ctx, client.Create{History: -1}); return err },
		"name":         func() error { _, err := c.Create(ctx, client.Create{Name: "-x"}); return err },
		"env":          func() error { _, err := c.Create(ctx, client.Create{Env: []string{"x"}}); return err },
		"dir":          func() error { _, err := c.Create(ctx, client.Create{Dir: "/no/such/dir"}); return err },
		"rename":       func() error { return s.Rename(ctx, "a b") },
		"resize":       func() error { return s.Resize(ctx, 0, 5) },
		"policy":       func() error { return s.FollowSize(ctx, "widest") },
		"clients":      func() error { _, err := c.Clients(ctx, "a b"); return err },
		"no condition": func() error { _, err := s.Wait(ctx, client.Condition{}); return err },
		"no event":     func() error { _, err := s.Wait(ctx, client.Condition{Events: []string{"x"}}); return err },
		"no state":     func() error { _, err := s.Wait(ctx, client.Condition{States: []string{"x"}}); return err },
		"since alone":  func() error { _, err := s.Wait(ctx, client.Condition{Exit: true, Since: 3}); return err },
		"no type": func() error {
			return c.Watch(ctx, client.WatchOptions{Types: []string{"x"}}, client.Watcher{})
		},
		"both": func() error {
			return c.Watch(ctx, client.WatchOptions{Session: "x", Host: "y"}, client.Watcher{})
		},
		"expression":    func() error { _, err := s.Wait(ctx, client.Condition{Text: "("}); return err },
		"long":          func() error { _, err := s.Wait(ctx, client.Condition{Text: strings.Repeat("x", 1<<20)}); return err },
		"negative idle": func() error { _, err := s.Wait(ctx, client.Condition{Idle: -1}); return err },
		"lines":         func() error { _, err := s.Capture(ctx, -1); return err },
	} {
		require.Equal(t, client.Usage, client.KindOf(call()), what)
	}
}

func TestRunSaysWhatATimeoutMeans(t *testing.T) {
	s := create(t, client.Create{Name: "shell", Command: []string{"bash", "--norc", "--noprofile"}})
	r, err := s.Run(within(t, time.Second), client.Command{Line: "echo begun; while :; do :; done"})
	require.Equal(t, client.Timeout, client.KindOf(err), "%v", err)
	require.ErrorContains(t, err, "it goes on")
	require.True(t, r.TimedOut)
	require.Equal(t, "begun\n", r.Output)

	r, err = s.Run(within(t, 300*time.Millisecond), client.Command{Line: "echo no"})
	require.Equal(t, client.Timeout, client.KindOf(err), "%v", err)
	require.ErrorContains(t, err, "nothing was typed")
	require.False(t, r.TimedOut)
}
