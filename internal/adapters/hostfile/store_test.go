package hostfile

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/domain/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func adding(alias string) func(domain.Hosts) (domain.Hosts, error) {
	return func(s domain.Hosts) (domain.Hosts, error) {
		return s.Add(domain.KnownHost{Alias: alias, Address: domain.Host{Name: alias}, Added: time.Unix(1_700_000_000, 0)})
	}
}

// add adds hosts one after another.
func add(t *testing.T, s *Store, aliases ...string) (last domain.Hosts) {
	t.Helper()
	for _, alias := range aliases {
		hosts, notice, err := s.Change(t.Context(), adding(alias))
		require.NoError(t, err)
		require.Nil(t, notice)
		last = hosts
	}
	return last
}

func load(t *testing.T, s *Store) domain.Hosts {
	t.Helper()
	hosts, notice, err := s.Load()
	require.NoError(t, err)
	require.Nil(t, notice)
	return hosts
}

func TestWhatIsKeptComesBack(t *testing.T) {
	dir := t.TempDir()
	require.Zero(t, load(t, In(dir)), "the empty set before anything was added")
	require.NoFileExists(t, filepath.Join(dir, lockName), "looking leaves nothing behind")
	want := add(t, In(dir), "b", "a")
	require.Equal(t, want, load(t, In(dir)))

	_, _, err := In(dir).Change(t.Context(), adding("a"))
	require.Equal(t, fault.Conflict, fault.KindOf(err), "the rule's own error")
	require.Equal(t, want, load(t, In(dir)))
	hosts, _, err := In(dir).Change(t.Context(), func(s domain.Hosts) (domain.Hosts, error) { return s, nil })
	require.NoError(t, err)
	require.Equal(t, want, hosts)

	for _, name := range []string{fileName, lastName, lockName} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(fileMode), info.Mode(), name)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"+freshSuffix+"*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// The last good version is used when the file is damaged, whatever the damage is; that is told once.
func TestADamagedFileIsReplacedByTheLastGoodOne(t *testing.T) {
	for name, damage := range map[string]func(file []byte) []byte{
		"cut":            func(b []byte) []byte { return b[:len(b)/2] },
		"empty":          func([]byte) []byte { return nil },
		"one bit":        func(b []byte) []byte { b[len(b)-10] ^= 1; return b },
		"of the sum":     func(b []byte) []byte { b[30] ^= 1; return b },
		"no head":        func(b []byte) []byte { return b[20:] },
		"more behind":    func(b []byte) []byte { return append(b, ' ') },
		"zeros":          func(b []byte) []byte { return make([]byte, len(b)) },
		"much too large": func([]byte) []byte { return make([]byte, maxFileBytes+1) },
		"no format": func(b []byte) []byte {
			return bytes.Replace(b, []byte("vev-hosts 1"), []byte("vev-hosts 0"), 1)
		},
		"another form": func(b []byte) []byte {
			_, body, _ := bytes.Cut(b, []byte("\n"))
			body = append(body, '\n')
			return append(head(body), body...)
		},
		"rules broken": func(b []byte) []byte {
			_, body, _ := bytes.Cut(b, []byte("\n"))
			body = bytes.Replace(body, []byte(`"revision": 3`), []byte(`"revision": 2`), 1)
			return append(head(body), body...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := In(dir)
			good := add(t, s, "a", "b")
			add(t, s, "c")
			path := filepath.Join(dir, fileName)
			file, err := os.ReadFile(path)
			require.NoError(t, err)
			bad := damage(file)
			require.NoError(t, os.WriteFile(path, bad, 0o600))
			require.Empty(t, s.Damaged())

			hosts, notice, err := s.Load()
			require.NoError(t, err)
			require.Equal(t, good, hosts)
			require.NotNil(t, notice)
			require.Contains(t, notice.Msg, "was damaged")
			require.Contains(t, notice.Hint, damagedName)
			require.Equal(t, good, load(t, s), "it is told once")
			kept, err := os.ReadFile(s.Damaged())
			require.NoError(t, err)
			require.Equal(t, bad, append([]byte(nil), kept...))
			require.NotNil(t, add(t, s, "d"))
		})
	}
}

// A change that meets the damage works on the last good version, and tells.
func TestAChangeOfADamagedFile(t *testing.T) {
	dir := t.TempDir()
	s := In(dir)
	add(t, s, "a", "b")
	require.NoError(t, os.WriteFile(filepath.Join(dir, fileName), []byte("damaged"), 0o600))
	hosts, notice, err := s.Change(t.Context(), adding("c"))
	require.NoError(t, err)
	require.NotNil(t, notice)
	require.Len(t, hosts.Known, 2)
	require.Equal(t, hosts, load(t, s))

	for _, name := range []string{fileName, lastName} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("damaged"), 0o600))
	}
	hosts, notice, err = s.Change(t.Context(), adding("d"))
	require.NoError(t, err)
	require.Contains(t, notice.Msg, "no good version is left")
	require.Len(t, hosts.Known, 1)
}

func TestTheFileOfANewerVevIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, fileName)
	newer := []byte("vev-hosts 2 whatever\n{}")
	require.NoError(t, os.WriteFile(path, newer, 0o600))
	_, _, err := In(dir).Load()
	require.Equal(t, fault.Incompatible, fault.KindOf(err))
	_, _, err = In(dir).Change(t.Context(), adding("a"))
	require.Equal(t, fault.Incompatible, fault.KindOf(err))
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, newer, file)
}

func TestChangesAtOnceAllCount(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			_, _, err := In(dir).Change(t.Context(), adding(fmt.Sprint("h", i)))
			if err != nil {
				t.Error(err)
			}
			if _, notice, err := In(dir).Load(); err != nil || notice != nil {
				t.Error(err, notice)
			}
		})
	}
	all.Wait()
	require.Len(t, load(t, In(dir)).Known, 24)
}

func TestALockThatIsNotReleasedIsNotWaitedForForEver(t *testing.T) {
	s := In(t.TempDir())
	root, err := s.open()
	require.NoError(t, err)
	defer root.Close()
	held, err := s.lock(t.Context(), root)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 3*lockPause)
	defer cancel()
	_, _, err = s.Change(ctx, adding("a"))
	require.Equal(t, fault.Timeout, fault.KindOf(err))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = s.Change(gone, adding("a"))
	require.Equal(t, fault.Canceled, fault.KindOf(err))
	require.NoError(t, held.Close())
	add(t, s, "a")
}

func TestWhatCannotBeUsedIsSaid(t *testing.T) {
	_, _, err := In(filepath.Join(t.TempDir(), "none")).Load()
	require.Equal(t, fault.Unavailable, fault.KindOf(err))
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, fileName), 0o700))
	_, _, err = In(dir).Load()
	require.Equal(t, fault.Unavailable, fault.KindOf(err))
	require.Contains(t, err.Error(), dir)
	// A link does not lead elsewhere.
	dir = t.TempDir()
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, fileName)))
	_, _, err = In(dir).Load()
	require.Equal(t, fault.Unavailable, fault.KindOf(err))
}

// fill is a set with everything at its limit.
func fill(t require.TestingT) domain.Hosts {
	var s domain.Hosts
	var err error
	for i := range 2 * domain.MaxHosts {
		if i >= domain.MaxHosts {
			s, err = s.Remove(s.Known[0].Alias)
			require.NoError(t, err)
		}
		alias := fmt.Sprintf("%03d%s", i, strings.Repeat("a", domain.MaxAliasBytes-3))
		name := fmt.Sprintf("%03d%s", i, strings.Repeat("h", 170))
		s, err = s.Add(domain.KnownHost{
			Alias: alias, Address: domain.Host{User: strings.Repeat("u", 64), Name: name, Port: 65535},
			Policy: domain.HostPolicy{Transport: domain.TransportQUIC, Start: domain.ExistingOnly}, Added: time.Unix(1_700_000_000, 0),
		})
		require.NoError(t, err)
	}
	return s
}

func TestTheFullestSetFits(t *testing.T) {
	s := fill(t)
	require.Len(t, s.Removed, domain.MaxRemovedHosts)
	b, err := encode(s)
	require.NoError(t, err)
	require.Less(t, len(b), maxFileBytes/2)
	again, err := decode(b)
	require.NoError(t, err)
	require.Equal(t, s, again)
}

func TestWhatIsWrittenReadsAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s domain.Hosts
		name := rapid.StringMatching(`[a-z0-9][a-z0-9._-]{0,5}`)
		for range rapid.IntRange(0, 30).Draw(t, "changes") {
			k := domain.KnownHost{
				Alias: name.Draw(t, "alias"),
				Address: domain.Host{
					Name: rapid.OneOf(name, rapid.Just("2001:db8::1"), rapid.Just("fe80::1%en0")).Draw(t, "name"),
					User: rapid.SampledFrom([]string{"", "ann"}).Draw(t, "user"), Port: rapid.IntRange(0, 2).Draw(t, "port"),
				},
				Policy: domain.HostPolicy{
					Transport: domain.Transport(rapid.IntRange(0, 2).Draw(t, "transport")), Start: domain.StartPolicy(rapid.IntRange(0, 1).Draw(t, "start")),
				},
				Added: time.Unix(rapid.Int64Range(0, 1<<35).Draw(t, "added"), 0),
			}
			if len(s.Known) > 0 && rapid.Bool().Draw(t, "remove") {
				s, _ = s.Remove(s.Known[0].Alias)
			} else if next, err := s.Add(k); err == nil {
				s = next
			}
		}
		b, err := encode(s)
		require.NoError(t, err)
		again, err := decode(b)
		require.NoError(t, err)
		if len(s.Known) == 0 {
			s.Known = nil
		}
		require.Equal(t, s, again)
	})
}

// Whatever is in the file, what is read keeps to the rules and is what would be written.
func FuzzDecode(f *testing.F) {
	for _, s := range []domain.Hosts{{}, fill(f)} {
		b, err := encode(s)
		require.NoError(f, err)
		_, body, _ := bytes.Cut(b, []byte("\n"))
		f.Add(b)
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		// As it is, and with the right checksum: nearly nothing would come through else.
		for _, file := range [][]byte{in, append(head(in), in...)} {
			s, err := decode(file)
			if err != nil {
				continue
			}
			require.NoError(t, s.Check())
			again, err := encode(s)
			require.NoError(t, err)
			require.Equal(t, file, again)
		}
	})
}
