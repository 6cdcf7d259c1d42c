package rundir

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/vev-term/vev/internal/domain/fault"
)

// The test binary plays every process of the play: what it is called with decides.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "_service":
			os.Exit(playService())
		case "_early":
			os.Exit(playEarly())
		case "_refusing":
			Started(fault.New(fault.Conflict, "the moon is full").WithHint("wait a week"))
			os.Exit(1)
		case "_silent":
			fmt.Println("last words")
			os.Exit(3)
		case "_stuck":
			time.Sleep(time.Minute)
		case "_client":
			os.Exit(playClient())
		}
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("os.(*Process).pidfdWait"), goleak.IgnoreTopFunction("syscall.Syscall6"), goleak.IgnoreAnyFunction("os.(*Process).Wait"))
}

var service = Service{Name: "svc", Args: []string{"_service"}}

// playService tells each connection its process id and ends, the way a service should, once
// one of them said "end" and all are gone: it retires, and serves on if somebody came meanwhile.
func playService() int {
	d, err := Open()
	var c *Claim
	if err == nil {
		c, err = d.Claim(context.Background(), service.Name)
	}
	Started(err)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	accepted := make(chan net.Conn)
	accept := func() {
		for {
			conn, err := c.Accept()
			if err != nil {
				accepted <- nil
				return
			}
			accepted <- conn
		}
	}
	said := make(chan string)
	serve := func(conn net.Conn) {
		defer conn.Close()
		fmt.Fprintf(conn, "%d\n", os.Getpid())
		line, _ := bufio.NewReader(conn).ReadString('\n')
		said <- strings.TrimSpace(line)
	}
	go accept()
	for active, ending := 0, false; ; {
		select {
		case conn := <-accepted:
			active++
			go serve(conn)
		case line := <-said:
			active--
			ending = ending || line == "end"
		}
		if !ending || active > 0 {
			continue
		}
		late := c.Retire()
		for conn := <-accepted; conn != nil; conn = <-accepted {
			late = append(late, conn.(*net.UnixConn))
		}
		if len(late) == 0 {
			c.Close()
			return 0
		}
		if err := c.Resume(); err != nil {
			fmt.Println(err)
			return 1
		}
		go accept()
		for _, conn := range late {
			active++
			go serve(conn)
		}
	}
}

// playEarly is playService that first answers what its starter said, and says whether it listened then.
func playEarly() int {
	if conn := First(); conn != nil {
		d, err := Open()
		if err != nil {
			return 1
		}
		word, _ := bufio.NewReader(conn).ReadString('\n')
		_, err = os.Stat(d.Run() + "/svc.sock")
		fmt.Fprintln(conn, len(word), os.IsNotExist(err))
		conn.Close()
	}
	return playService()
}

func playClient() int {
	d, err := Open()
	if err == nil {
		var pid string
		if pid, err = ask(context.Background(), d, ""); err == nil {
			fmt.Println(pid)
			return 0
		}
	}
	fmt.Println("failed:", err)
	return 1
}

// ask connects, starting the service if need be, tells it word and returns its process id.
func ask(ctx context.Context, d *Dir, word string) (string, error) {
	conn, err := d.DialOrStart(ctx, service)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	pid, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("connected and then: %w", err)
	}
	if word != "" {
		_, err = fmt.Fprintln(conn, word)
	}
	return strings.TrimSpace(pid), err
}

// home gives a test its own vev.
func home(t *testing.T) *Dir {
	t.Helper()
	t.Setenv(homeEnv, t.TempDir())
	d, err := Open()
	require.NoError(t, err)
	return d
}

// homeWithService ends the service at the test's end, and waits until it is gone.
func homeWithService(t *testing.T) *Dir {
	d := home(t)
	t.Cleanup(func() {
		if conn, err := d.Dial(context.Background(), service.Name); err == nil {
			fmt.Fprintln(conn, "end")
			conn.Close()
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		lock, err := d.Lock(ctx, service.Name)
		if assert.NoError(t, err, "the service is still there") {
			lock.Unlock()
		}
		if t.Failed() {
			logs, _ := filepath.Glob(d.State() + "/*.log")
			for _, f := range logs {
				b, _ := os.ReadFile(f)
				t.Logf("%s: %s", f, b)
			}
		}
	})
	return d
}
