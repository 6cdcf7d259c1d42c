package client_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/vev-term/vev/client"
)

// A session runs a command until its end, and keeps what it printed.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c := client.New(client.Options{})
	s, err := c.Create(ctx, client.Create{Name: "build", Command: []string{"sh", "-c", "echo built; exit 3"}})
	if err != nil {
		log.Fatal(err)
	}
	met, err := s.Wait(ctx, client.Condition{Exit: true})
	if err != nil {
		log.Fatal(err)
	}
	screen, err := s.Capture(ctx, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(*met.Status, screen.Lines[0].Text)
	if err := s.Kill(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: 3 built
}

// What is typed goes to the program once; what it says back is waited for, not polled.
func ExampleSession_Type() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c := client.New(client.Options{})
	s, err := c.Create(ctx, client.Create{Command: []string{"cat"}, Cols: 40, Rows: 10})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Kill(ctx)
	if err := s.Type(ctx, "hello"); err != nil {
		log.Fatal(err)
	}
	if err := s.Press(ctx, "Enter"); err != nil {
		log.Fatal(err)
	}
	met, err := s.Wait(ctx, client.Condition{Text: "^hel+o$"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(*met.Match)
	// Output: hello
}

// A paste of any size goes at the pace of who reads it.
func ExampleSession_Paste() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s, err := client.New(client.Options{}).Create(ctx, client.Create{Command: []string{"sh", "-c", "read a; read b; echo \"$b, $a\""}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Kill(ctx)
	if err := s.Paste(ctx, strings.NewReader("world\nhello\n")); err != nil {
		log.Fatal(err)
	}
	met, err := s.Wait(ctx, client.Condition{Text: "^hello, world$"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(*met.Match)
	// Output: hello, world
}

// Failures say who can do something about them.
func ExampleKindOf() {
	ctx := context.Background()
	s, err := client.New(client.Options{}).Session("nowhere")
	if err != nil {
		log.Fatal(err)
	}
	_, err = s.Info(ctx)
	fmt.Println(client.KindOf(err) == client.NotFound, err)
	// Output: true no session "nowhere"
}

// What happens is told in its order and once, also across a restart of what lies between.
func ExampleClient_Watch() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c := client.New(client.Options{})
	s, err := c.Create(ctx, client.Create{Name: "watched", Command: []string{"sh", "-c", "printf '\\033]0;hello\\007'"}})
	if err != nil {
		log.Fatal(err)
	}
	err = c.Watch(ctx, client.WatchOptions{Session: "watched", Types: []string{"title", "exited"}}, client.Watcher{
		Event: func(e client.Event) error {
			fmt.Println(e.Type, e.Text)
			return nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	_ = s.Kill(ctx)
	// Output:
	// title hello
	// exited status 0
}

// A session has a name and a size that can be changed, and says who is attached.
func ExampleSession_Resize() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c := client.New(client.Options{})
	s, err := c.Create(ctx, client.Create{Name: "draft", Command: []string{"cat"}})
	if err != nil {
		log.Fatal(err)
	}
	if err := s.Resize(ctx, 132, 43); err != nil {
		log.Fatal(err)
	}
	if err := s.Rename(ctx, "final"); err != nil {
		log.Fatal(err)
	}
	if s, err = c.Session("final"); err != nil {
		log.Fatal(err)
	}
	info, err := s.Info(ctx)
	if err != nil {
		log.Fatal(err)
	}
	clients, err := s.Clients(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(info.Name, info.Cols, info.Rows, info.SizePolicy, len(clients))
	if err := s.Kill(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: final 132 43 fixed 0
}
