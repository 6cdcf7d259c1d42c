package shell

import _ "embed"

//go:embed init/bash.sh
var initBash string

//go:embed init/zsh.sh
var initZsh string

//go:embed init/fish.fish
var initFish string

// Integration is what the user's shell reads to mark prompts and commands and to tell its directory, "" for a kind
// that cannot.
func Integration(k Kind) string {
	switch k {
	case Bash:
		return initBash
	case Zsh:
		return initZsh
	case Fish:
		return initFish
	}
	return ""
}
