package render

// Target says what receives a painter's bytes.
type Target uint8

// The targets.
const (
	// Canonical is an engine of package vt that mirrors the frame: all state is in the bytes.
	Canonical Target = iota
	// UserTerminal is a person's xterm-like terminal.
	UserTerminal
)

// Painter remembers what a terminal shows and paints differences. It is for one goroutine at a time.
type Painter struct {
	target Target
}

// NewPainter returns a painter that knows nothing of its terminal: the first Paint is complete.
func NewPainter(target Target) *Painter { return &Painter{target: target} }

// Paint appends to dst what makes the terminal show f, and remembers f. It appends nothing when f is shown already.
func (p *Painter) Paint(dst []byte, f *Frame) []byte { return dst }

// Reset forgets what the terminal shows; the next Paint is complete.
func (p *Painter) Reset() {}

// Enter appends what prepares a person's terminal for painting: the alternate screen, its title saved, the cursor
// hidden until the first Paint. For UserTerminal alone.
func (p *Painter) Enter(dst []byte) []byte { return dst }

// Leave appends what undoes Enter and every mode that a Paint may have set, and resets the painter. For UserTerminal
// alone; it is right at any moment, also after a Paint whose bytes were not all written.
func (p *Painter) Leave(dst []byte) []byte { return dst }
