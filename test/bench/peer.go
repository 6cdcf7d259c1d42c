//go:build linux

package main

import (
	"os"
	"path/filepath"
)

// peer says how one program is driven. A command that it lacks is nil, and tables that want it leave the peer out.
type peer struct {
	name string
	exe  string // its executable, "" for none: the processes that run it are what the peer costs
	// restores: it repaints the screen on attach by itself. Else the program in the session does, on SIGWINCH.
	restores bool
	// prepare fills the run's directory; nil for nothing to do.
	prepare func(dir string) error
	env     func(dir string) []string

	create   command // a new session, attached
	detached command // a new session; returns at once
	attach   command
	list     command
	kill     command // end one session
}

// command makes a command line for a run's directory, a session's name and the program to run there.
type command func(dir, session string, program []string) []string

// allPeers are the peers in the order they take turns. vev is the binary under test, "" for none.
func allPeers(vev string) []*peer {
	peers := []*peer{
		{
			name:   "raw",
			create: func(_, _ string, program []string) []string { return program },
		},
		tmuxPeer(),
		dtachPeer(),
	}
	if vev != "" {
		peers = append(peers, vevPeer(vev))
	}
	return peers
}

func tmuxPeer() *peer {
	tmux := func(dir string, args ...string) []string {
		return append([]string{"tmux", "-S", filepath.Join(dir, "sock"), "-f", filepath.Join(dir, "tmux.conf")}, args...)
	}
	return &peer{
		name: "tmux", exe: "tmux", restores: true,
		prepare: func(dir string) error {
			// vev keeps as many lines.
			return os.WriteFile(filepath.Join(dir, "tmux.conf"), []byte("set -g history-limit 10000\n"), 0o600)
		},
		create: func(dir, session string, program []string) []string {
			return append(tmux(dir, "new-session", "-s", session, "--"), program...)
		},
		detached: func(dir, session string, program []string) []string {
			return append(tmux(dir, "new-session", "-d", "-x", "80", "-y", "24", "-s", session, "--"), program...)
		},
		attach: func(dir, session string, _ []string) []string { return tmux(dir, "attach-session", "-t", session) },
		list:   func(dir, _ string, _ []string) []string { return tmux(dir, "list-sessions") },
		kill:   func(dir, session string, _ []string) []string { return tmux(dir, "kill-session", "-t", session) },
	}
}

// dtachPeer has a server for each session and keeps no screen. Its listing is that of a directory.
func dtachPeer() *peer {
	dtach := func(how, dir, session string, program []string) []string {
		return append([]string{"dtach", how, filepath.Join(dir, session+".dtach"), "-E", "-z", "-r", "winch"}, program...)
	}
	return &peer{
		name: "dtach", exe: "dtach",
		create: func(dir, session string, program []string) []string {
			return dtach("-c", dir, session, program)
		},
		detached: func(dir, session string, program []string) []string {
			return dtach("-n", dir, session, program)
		},
		attach: func(dir, session string, _ []string) []string { return dtach("-a", dir, session, nil) },
		list:   func(dir, _ string, _ []string) []string { return []string{"ls", dir} },
	}
}

func vevPeer(vev string) *peer {
	return &peer{
		name: "vev", exe: vev, restores: true,
		env: func(dir string) []string { return []string{"VEV_HOME=" + filepath.Join(dir, "vev")} },
		create: func(_, session string, program []string) []string {
			return append([]string{vev, "new", session, "--"}, program...)
		},
		detached: func(_, session string, program []string) []string {
			return append([]string{vev, "new", session, "-d", "--"}, program...)
		},
		attach: func(_, session string, _ []string) []string { return []string{vev, "attach", session} },
		list:   func(_, _ string, _ []string) []string { return []string{vev, "ls"} },
		kill:   func(_, session string, _ []string) []string { return []string{vev, "kill", session} },
	}
}
