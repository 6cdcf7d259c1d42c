package sshstdio

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/vev-term/vev/internal/domain/fault"
	"github.com/vev-term/vev/internal/ports"
)

// systems and machines are what uname says, as Go says it. Functions, as are those below: a map in a variable is made by
// every process that starts.
func systems() map[string]string { return map[string]string{"Linux": "linux", "Darwin": "darwin"} }

func machines() map[string]string {
	return map[string]string{
		"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64", "armv6l": "arm", "armv7l": "arm", "armv8l": "arm",
		"i386": "386", "i486": "386", "i586": "386", "i686": "386", "riscv64": "riscv64", "ppc64le": "ppc64le", "s390x": "s390x",
		"loongarch64": "loong64",
	}
}

// platform is the machine as Go names its kind, "" for one that vev is not made for.
func platform(s ports.Survey) string {
	system, machine := systems()[s.System], machines()[s.Machine]
	if system == "" || machine == "" {
		return ""
	}
	return system + "/" + machine
}

// programFor opens the vev for a machine: own, or where that is for another kind, its neighbour vev-OS-ARCH, or that in
// ../share/vev beside it. The fault is Unsupported where there is none.
func programFor(own string, s ports.Survey) (*os.File, int64, error) {
	want := platform(s)
	if want == "" {
		return nil, 0, fault.New(fault.Unsupported, "it is %s on %s, which vev is not made for", orUnknown(s.System), orUnknown(s.Machine))
	}
	if own == "" {
		var err error
		if own, err = os.Executable(); err != nil {
			return nil, 0, fault.Wrap(fault.Unavailable, err, "this program cannot be found")
		}
	}
	f, size, err := openProgram(own, want)
	if !errors.Is(err, errOtherKind) {
		return f, size, err
	}
	for _, path := range neighbours(own, want) {
		f, size, err := openProgram(path, want)
		switch {
		case errors.Is(err, errOtherKind):
			return nil, 0, fault.New(fault.Unsupported, "%s is no program for %s", path, want).WithHint("put a vev that was built for %s there", want)
		case !errors.Is(err, os.ErrNotExist):
			return f, size, err
		}
	}
	places := neighbours(own, want)
	goos, arch, _ := strings.Cut(want, "/")
	return nil, 0, fault.New(fault.Unsupported, "it is %s, this vev is not, and none for it is here", want).
		WithHint("build one, GOOS=%s GOARCH=%s make build, and put it here as %s", goos, arch, places[0])
}

func orUnknown(s string) string {
	if s == "" {
		return "something unknown"
	}
	return s
}

// neighbours are where the vev for another kind of machine may be.
func neighbours(own, want string) (paths []string) {
	name := "vev-" + strings.ReplaceAll(want, "/", "-")
	dirs := []string{filepath.Dir(own)}
	if real, err := filepath.EvalSymlinks(own); err == nil && filepath.Dir(real) != dirs[0] {
		dirs = append(dirs, filepath.Dir(real))
	}
	for _, dir := range dirs {
		paths = append(paths, filepath.Join(dir, name), filepath.Join(dir, "..", "share", "vev", name))
	}
	return paths
}

// errOtherKind: a file is a program for another kind of machine, or none.
var errOtherKind = errors.New("for another kind of machine")

// openProgram opens a file that is a program for a kind of machine.
func openProgram(path, want string) (*os.File, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fault.Wrap(fault.Unavailable, err, "cannot read the program")
	}
	info, err := f.Stat()
	var head [headBytes]byte
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = errOtherKind
	case info.Size() > maxProgramBytes:
		err = fault.New(fault.Limit, "%s has %d bytes, at most %d can be copied", path, info.Size(), maxProgramBytes)
	default:
		_, err = f.ReadAt(head[:], 0)
		if errors.Is(err, io.EOF) || err == nil && kindOf(head) != want {
			err = errOtherKind
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// headBytes is as much of a program as says for what kind of machine it is.
const headBytes = 20

// elfMachines are e_machine and the class of an ELF file (System V ABI, chapter 4); macMachines the cputype of a Mach-O file.
func elfMachines() map[[2]uint16]string {
	return map[[2]uint16]string{
		{62, 2}: "amd64", {183, 2}: "arm64", {40, 1}: "arm", {3, 1}: "386", {243, 2}: "riscv64", {21, 2}: "ppc64le", {22, 2}: "s390x", {258, 2}: "loong64",
	}
}

func macMachines() map[uint32]string {
	return map[uint32]string{0x01000007: "amd64", 0x0100000c: "arm64"}
}

// kindOf says for what a program is, by its first bytes; "" for what is none that is known.
func kindOf(head [headBytes]byte) string {
	const (
		machO64   = 0xfeedfacf
		elfBig    = 2
		abiSystem = 0 // System V, which Linux uses
		abiLinux  = 3
	)
	switch {
	case string(head[:4]) == "\x7fELF" && (head[7] == abiSystem || head[7] == abiLinux):
		var order binary.ByteOrder = binary.LittleEndian
		if head[5] == elfBig {
			order = binary.BigEndian
		}
		if arch := elfMachines()[[2]uint16{order.Uint16(head[18:]), uint16(head[4])}]; arch != "" {
			return "linux/" + arch
		}
	case binary.LittleEndian.Uint32(head[:]) == machO64:
		if arch := macMachines()[binary.LittleEndian.Uint32(head[4:])]; arch != "" {
			return "darwin/" + arch
		}
	}
	return ""
}
