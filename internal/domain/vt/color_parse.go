package vt

import (
	"bytes"
	"strconv"
)

// parseColor reads rgb:r/g/b with one to four digits each, #rgb to #rrrrggggbbbb, and the names that colorNames has.
func parseColor(s string) (Color, bool) {
	if len(s) > 0 && s[0] == '#' {
		s = s[1:]
		n := len(s) / 3
		if n < 1 || n > 4 || len(s) != 3*n {
			return 0, false
		}
		return colorOf(s[:n], s[n:2*n], s[2*n:], false)
	}
	if len(s) < 4 || s[:4] != "rgb:" {
		return namedColor(s)
	}
	var part [3]string
	i := 0
	for p := range bytes.SplitSeq([]byte(s[4:]), []byte{'/'}) {
		if i == 3 || len(p) < 1 || len(p) > 4 {
			return 0, false
		}
		part[i] = string(p)
		i++
	}
	if i != 3 {
		return 0, false
	}
	return colorOf(part[0], part[1], part[2], true)
}

// colorOf takes hexadecimal components. scaled: f means ff (rgb:); otherwise f0 (#), as X has it.
func colorOf(r, g, b string, scaled bool) (Color, bool) {
	var c [3]uint8
	for i, s := range [3]string{r, g, b} {
		v, err := strconv.ParseUint(s, 16, 16)
		if err != nil {
			return 0, false
		}
		digits := 4 * len(s)
		if scaled {
			v = v * 0xff / (1<<digits - 1)
		} else if v <<= 16 - digits; true {
			v >>= 8
		}
		c[i] = uint8(v)
	}
	return RGB(c[0], c[1], c[2]), true
}
