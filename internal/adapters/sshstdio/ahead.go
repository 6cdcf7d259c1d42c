package sshstdio

import (
	"encoding/base64"
	"os"
)

const (
	// envAhead is where the helper finds what the conversation begins with, as base64 for addresses, whose words are the same in
	// every shell. It comes with the command: the channel for its input opens a round trip after that. The same bytes come on
	// standard input, for helpers that do not look here. Whoever may list processes can read it: nothing private is in it.
	envAhead = "VEV_AHEAD"
	// maxAhead bounds it: what is longer goes by standard input alone. Some shells take no words of much more than a thousand bytes.
	maxAhead = 700
)

// commandAhead is remoteCommand for a helper that is told what the conversation begins with.
func commandAhead(first []byte) string {
	if len(first) == 0 || len(first) > maxAhead {
		return remoteCommand
	}
	return remoteCommand + " vev " + base64.RawURLEncoding.EncodeToString(first)
}

// TakeAhead is what the helper's conversation begins with, and comes on standard input once more; empty where that was not
// told. It is told once: what this process starts does not see it.
func TakeAhead() []byte {
	word := os.Getenv(envAhead)
	_ = os.Unsetenv(envAhead) // it is a name that can be unset
	first, err := base64.RawURLEncoding.DecodeString(word)
	if err != nil || len(first) > maxAhead {
		return nil
	}
	return first
}
