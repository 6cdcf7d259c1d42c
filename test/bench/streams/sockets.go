package main

import (
	"io"
	"net"
	"sync"
)

// sockets gives each stream a Unix socket of its own: what streams beside each other cost where nothing is shared but the
// machine.
func sockets() kind {
	k := bare("sockets", func(c io.ReadWriteCloser) io.ReadWriteCloser { return c })
	k.single, k.client, k.dial = false, nil, dialSockets
	return k
}

func dialSockets(addr string) (session, error) {
	var (
		mu    sync.Mutex
		conns []net.Conn
	)
	open := func() (io.ReadWriteCloser, error) {
		c, err := net.Dial("unix", addr)
		if err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		conns = append(conns, c)
		return c, nil
	}
	end := func() error {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range conns {
			c.Close()
		}
		return nil
	}
	return session{open, end}, nil
}
