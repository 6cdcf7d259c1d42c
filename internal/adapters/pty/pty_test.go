package pty

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/vev-term/vev/internal/domain"
	"github.com/vev-term/vev/internal/ports"
	"github.com/vev-term/vev/internal/ports/porttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var testEnv = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/", "TERM=xterm-256color", "LC_ALL=C.UTF-8"}

func sh(script string) domain.Command {
	return domain.Command{Argv: []string{"/bin/sh", "-c", script}, Env: testEnv}
}

func TestConformance(t *testing.T) {
	porttest.Programs(t, func(*testing.T) ports.Programs { return new(Programs) }, porttest.ProgramScenes{
		Exit7:    sh("printf bye; exit 7"),
		Cat:      sh("stty raw -echo; printf ready; exec cat"),
		Deaf:     sh("stty raw -echo; printf ready; exec sleep 1000"),
		Stubborn: sh("trap '' HUP; printf ready; while :; do sleep 1000; done"),
		Sizes: sh(`size() { stty size | { read r c; printf "size ${c}x$r;"; }; }
			trap size WINCH; size; while :; do sleep 1000 & wait; done`),
		Missing: domain.Command{Argv: []string{"no-such-program"}, Env: testEnv},
	})
}
