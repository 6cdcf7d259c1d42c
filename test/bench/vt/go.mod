module github.com/vev-term/vev/test/bench/vt

go 1.26.0

require (
	github.com/charmbracelet/x/ansi v0.11.9
	github.com/vev-term/vev v0.0.0
)

require (
	github.com/clipperhouse/displaywidth v0.11.0 // indirect
	github.com/clipperhouse/uax29/v2 v2.7.0 // indirect
	github.com/lucasb-eyer/go-colorful v1.4.1 // indirect
	github.com/mattn/go-runewidth v0.0.27 // indirect
)

replace github.com/vev-term/vev => ../../..
