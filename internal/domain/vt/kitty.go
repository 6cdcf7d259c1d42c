package vt

// maxKitty bounds the stack of keyboard flags; a push over it drops the oldest.
const maxKitty = 16

// kittyStack is a screen's stack of kitty keyboard flags; the flags in effect are the last.
type kittyStack struct {
	n     int
	stack [maxKitty]uint8
}

const kittyMask = 31

func (k *kittyStack) flags() uint8 {
	if k.n == 0 {
		return 0
	}
	return k.stack[k.n-1]
}

func (k *kittyStack) push(flags uint8) {
	if k.n == maxKitty {
		copy(k.stack[:], k.stack[1:])
		k.n--
	}
	k.stack[k.n] = flags & kittyMask
	k.n++
}

func (k *kittyStack) pop(n int) { k.n = max(k.n-n, 0) }

// set changes the flags in effect: how 1 replaces them, 2 adds, 3 takes away.
func (k *kittyStack) set(flags uint8, how int) {
	flags &= kittyMask
	switch how {
	case 1:
	case 2:
		flags |= k.flags()
	case 3:
		flags = k.flags() &^ flags
	default:
		return
	}
	if k.n == 0 {
		k.n = 1
	}
	k.stack[k.n-1] = flags
}
