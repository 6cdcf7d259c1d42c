package vt

// maxColorStack bounds XTPUSHCOLORS; further pushes are ignored.
const maxColorStack = 10

// savedColors is what XTPUSHCOLORS keeps.
type savedColors struct {
	palette Palette
	extra   extraColors
}

// pushColors is XTPUSHCOLORS: on top of the stack, or with n into its n-th place.
func (t *Terminal) pushColors(n int) {
	if n == 0 {
		n = len(t.colorStack) + 1
	}
	if n > maxColorStack {
		return
	}
	for len(t.colorStack) < n {
		t.colorStack = append(t.colorStack, savedColors{})
	}
	t.colorStack[n-1] = savedColors{t.palette, t.extra}
}

// popColors is XTPOPCOLORS: from the top of the stack, which loses it, or with n from the n-th place.
func (t *Terminal) popColors(n int) {
	top := len(t.colorStack)
	if n > top || top == 0 {
		return
	}
	s := t.colorStack[max(n, 1)-1]
	if n == 0 {
		s = t.colorStack[top-1]
		t.colorStack = t.colorStack[:top-1]
	}
	s.palette.Changed = t.palette.Changed
	if s.palette != t.palette {
		s.palette.Changed++
		t.palette = s.palette
		t.changed = true
	}
	t.extra = s.extra
}
