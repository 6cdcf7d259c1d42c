package quic

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// groups are what a change of the network is: addresses, interfaces, and where packets go.
const groups = unix.RTMGRP_LINK | unix.RTMGRP_IPV4_IFADDR | unix.RTMGRP_IPV6_IFADDR | unix.RTMGRP_IPV4_ROUTE

// networkChanges gives something to read for every change of this machine's network (rtnetlink(7)).
func networkChanges() (io.ReadCloser, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, err
	}
	if err := unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: groups}); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return netlink{os.NewFile(uintptr(fd), "netlink")}, nil
}

type netlink struct{ *os.File }

// Read implements io.Reader. Changes that were too many for the kernel to keep are a change too.
func (n netlink) Read(p []byte) (int, error) {
	m, err := n.File.Read(p)
	if errors.Is(err, unix.ENOBUFS) {
		return 0, nil
	}
	return m, err
}
