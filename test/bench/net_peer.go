//go:build linux

package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// netPeer says how one program reaches sessions on another host.
type netPeer struct {
	name    string
	needs   map[string]string // executables, and the Debian packages that have them
	prepare func(*site) error

	create   netCommand // a new session, attached
	attach   netCommand // nil: it has no sessions to come back to
	detached netCommand // a new session, on the far host itself
}

// netCommand makes a command line for a site, a session's name and the program to run there.
type netCommand func(s *site, session string, program []string) []string

// Names of peers that tables and targets speak of.
const (
	vevName      = "vev" // without prediction, as the others but those that are named for it
	vevPredicts  = "vev-predict"
	vevSSH       = "vev-ssh"  // over ssh's standard input and output
	vevQUIC      = "vev-quic" // over the transport that it chooses itself, behind ssh's first contact
	sshName      = "ssh"
	sshDtach     = "ssh+dtach" // keeps no screen: the program shows it again
	sshTmux      = "ssh+tmux"
	keptSSHTmux  = "sshcm+tmux"
	moshTmux     = "mosh+tmux"
	moshName     = "mosh"
	moshPredicts = "mosh-predict"
)

var (
	sshNeeds   = map[string]string{"ssh": "openssh-client", "/usr/sbin/sshd": "openssh-server"}
	tmuxNeeds  = map[string]string{"ssh": "openssh-client", "/usr/sbin/sshd": "openssh-server", "tmux": "tmux"}
	dtachNeeds = map[string]string{"ssh": "openssh-client", "/usr/sbin/sshd": "openssh-server", "dtach": "dtach"}
	moshNeeds  = map[string]string{"ssh": "openssh-client", "/usr/sbin/sshd": "openssh-server", "mosh": "mosh", "tmux": "tmux"}
)

// netPeers are all of them, in the order they take turns.
func netPeers(vev string) []*netPeer {
	peers := []*netPeer{
		{name: sshName, needs: sshNeeds, prepare: startSSHD, create: overSSH("far", bare)},
		{
			name: sshTmux, needs: tmuxNeeds, prepare: startSSHD,
			create: overSSH("far", tmuxNew), attach: overSSH("far", tmuxAttach), detached: tmuxDetached,
		},
		{
			name: keptSSHTmux, needs: tmuxNeeds, prepare: startKeptSSH,
			create: overSSH("cm", tmuxNew), attach: overSSH("cm", tmuxAttach), detached: tmuxDetached,
		},
		{
			name: sshDtach, needs: dtachNeeds, prepare: startSSHD,
			create: overSSH("far", dtach("-c")), attach: overSSH("far", dtach("-a")), detached: dtach("-n"),
		},
		{name: moshName, needs: moshNeeds, prepare: startSSHD, create: overMosh("never", bare)},
		{
			name: moshTmux, needs: moshNeeds, prepare: startSSHD,
			create: overMosh("never", tmuxNew), attach: overMosh("never", tmuxAttach), detached: tmuxDetached,
		},
		{name: moshPredicts, needs: moshNeeds, prepare: startSSHD, create: overMosh("adaptive", bare)},
	}
	if vev == "" {
		return peers
	}
	return append(peers, vevAcross(vevName, vev, "never"), vevAcross(vevPredicts, vev, "adaptive"),
		vevAfar(vevSSH, vev, "ssh"), vevAfar(vevQUIC, vev, "auto"))
}

// vevAfar is vev as it reaches another machine, by one of its transports.
func vevAfar(name, vev, transport string) *netPeer {
	p := vevAcross(name, vev, "never")
	p.needs, p.prepare = sshNeeds, startVevSSH(transport)
	p.create = func(_ *site, session string, program []string) []string {
		return append([]string{vev, "new", "far:" + session, "--predict", "never", "--"}, program...)
	}
	p.attach = func(_ *site, session string, _ []string) []string {
		return []string{vev, "attach", "far:" + session, "--predict", "never"}
	}
	return p
}

// vevAcross is vev with one of its ways to predict.
func vevAcross(name, vev, predict string) *netPeer {
	return &netPeer{
		name: name, prepare: startVev,
		create: func(_ *site, session string, program []string) []string {
			return append([]string{vev, "new", session, "--predict", predict, "--"}, program...)
		},
		attach: func(_ *site, session string, _ []string) []string {
			return []string{vev, "attach", session, "--predict", predict}
		},
		detached: func(_ *site, session string, program []string) []string {
			return append([]string{vev, "new", session, "-d", "--"}, program...)
		},
	}
}

// missing are the packages of what a peer lacks.
func (p *netPeer) missing() (packages []string) {
	for exe, pkg := range p.needs {
		if _, err := exec.LookPath(exe); err != nil {
			packages = append(packages, pkg)
		}
	}
	return packages
}

func bare(_ *site, _ string, program []string) []string { return program }

func tmux(s *site, args ...string) []string {
	return append([]string{"tmux", "-S", filepath.Join(s.dir, "sock"), "-f", filepath.Join(s.dir, "tmux.conf")}, args...)
}

func tmuxNew(s *site, session string, program []string) []string {
	return append(tmux(s, "new-session", "-s", session, "--"), program...)
}

func tmuxAttach(s *site, session string, _ []string) []string {
	return tmux(s, "attach-session", "-t", session)
}

// dtach does one of its things with a session, whose socket has the session's name.
func dtach(how string) netCommand {
	return func(s *site, session string, program []string) []string {
		argv := []string{"dtach", how, filepath.Join(s.dir, session+".dtach"), "-E", "-z", "-r", "winch"}
		if how == "-a" {
			return argv
		}
		return append(argv, program...)
	}
}

func tmuxDetached(s *site, session string, program []string) []string {
	return append(tmux(s, "new-session", "-d", "-x", fmt.Sprint(termCols), "-y", fmt.Sprint(termRows), "-s", session, "--"), program...)
}

// overSSH runs a command on the far host through ssh.
func overSSH(host string, c netCommand) netCommand {
	return func(s *site, session string, program []string) []string {
		return []string{s.wrappedSSH(), "-tt", host, quoted(c(s, session, program))}
	}
}

// overMosh runs a command on the far host through mosh, with one of its ways to predict.
func overMosh(predict string, c netCommand) netCommand {
	return func(s *site, session string, program []string) []string {
		ssh := "--ssh=ssh -F " + filepath.Join(s.dir, "ssh_config")
		return append([]string{"mosh", "--predict=" + predict, ssh, "far", "--"}, c(s, session, program)...)
	}
}

// quoted is a command line for a shell.
func quoted(argv []string) string {
	var words []string
	for _, arg := range argv {
		words = append(words, "'"+strings.ReplaceAll(arg, "'", `'\''`)+"'")
	}
	return strings.Join(words, " ")
}

// startKeptSSH also makes the connection that later ones go over.
func startKeptSSH(s *site) error {
	if err := startSSHD(s); err != nil {
		return err
	}
	cmd := exec.Command("ssh", "-F", filepath.Join(s.dir, "ssh_config"), "-fN", "cm")
	cmd.Env, cmd.Dir = s.env, s.dir
	if err := s.lab.Near.Start(cmd); err != nil {
		return err
	}
	return cmd.Wait()
}
