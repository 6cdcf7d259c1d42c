package vt

// maxSavedModes bounds XTSAVE; further modes are not saved.
const maxSavedModes = 64

// savedModes is what XTSAVE kept.
type savedModes struct {
	n     int
	modes [maxSavedModes]struct {
		number int
		on     bool
	}
}

func (s *savedModes) save(number int, on bool) {
	i := 0
	for i < s.n && s.modes[i].number != number {
		i++
	}
	if i == maxSavedModes {
		return
	}
	s.modes[i].number, s.modes[i].on = number, on
	s.n = max(s.n, i+1)
}

func (s *savedModes) saved(number int) (on, ok bool) {
	for _, m := range s.modes[:s.n] {
		if m.number == number {
			return m.on, true
		}
	}
	return false, false
}
