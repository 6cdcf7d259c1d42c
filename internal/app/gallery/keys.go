package gallery

import (
	"context"

	"github.com/vev-term/vev/internal/domain/keys"
)

// wish is what a key asks for.
type wish uint8

const (
	wishNothing wish = iota
	wishLeft
	wishRight
	wishUp
	wishDown
	wishFirst
	wishLast
	wishNext // as Tab: the next, and behind the last the first
	wishChoose
	wishLeave
)

// meaning is the key table.
func meaning(e keys.Event) wish {
	if e.Kind != keys.KeyEvent || e.Action == keys.Release {
		return wishNothing
	}
	switch r := e.Rune(); {
	case r == 'q', e.Is(keys.Escape, 0), e.Is('c', keys.Ctrl):
		return wishLeave
	case r == 'h', e.Is(keys.Left, 0):
		return wishLeft
	case r == 'l', e.Is(keys.Right, 0):
		return wishRight
	case r == 'k', e.Is(keys.Up, 0):
		return wishUp
	case r == 'j', e.Is(keys.Down, 0):
		return wishDown
	case r == 'g', e.Is(keys.Home, 0):
		return wishFirst
	case r == 'G', e.Is(keys.End, 0):
		return wishLast
	case e.Is(keys.Tab, 0):
		return wishNext
	case e.Is(keys.Enter, 0):
		return wishChoose
	}
	return wishNothing
}

const readBytes = 4 << 10

// pump reads keys and hands over what they ask for, until the terminal is closed. What leaves is done here, whatever the
// loop waits for.
func (g *gallery) pump(ctx context.Context) error {
	var decoder keys.Decoder
	buf := make([]byte, readBytes)
	kept := 0
	for {
		n, err := g.o.Terminal.Read(buf[kept:])
		if err != nil {
			return &terminalError{err}
		}
		p := buf[:kept+n]
		for len(p) > 0 {
			e, used := decoder.Next(p, len(p) > 1 || p[0] != 0x1b)
			if used == 0 {
				break
			}
			p = p[used:]
			switch w := meaning(e); w {
			case wishNothing:
			case wishLeave:
				return nil
			default:
				select {
				case g.wishes <- w:
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}
		}
		kept = copy(buf, p)
	}
}
