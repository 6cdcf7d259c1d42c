package render

import (
	"bufio"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vev-term/vev/internal/domain/vt"
)

// FuzzRender: whatever a program prints, both targets show what the source shows, by differences and by full paints.
func FuzzRender(f *testing.F) {
	f.Add([]byte("hello\x1b[1mworld"), []byte("\x1b[2J宽e\u0301"))
	f.Add([]byte("\x1b]8;;h"+strings.Repeat("\x93", 1400)+"\x07link"), []byte(nil)) // longer as text than as it came
	file, err := os.Open(filepath.Join("..", "..", "..", "..", "shared", "vt-corpus", "ghostty-fuzz", "stream-cmin.hex"))
	if err == nil {
		defer file.Close()
		s := bufio.NewScanner(file)
		s.Buffer(nil, 1<<20)
		for n := 0; s.Scan(); n++ {
			if b, err := hex.DecodeString(s.Text()); err == nil && n%8 == 0 {
				f.Add(b[:len(b)/2], b[len(b)/2:])
			}
		}
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		for _, r := range receivers {
			src := vt.New(vt.Options{Cols: 20, Rows: 6})
			p := r.painter()
			dst := r.fresh(p, 20, 6)
			var f Frame
			for i, in := range [][]byte{first, second, first} {
				src.Write(in)
				if i == 2 && len(first) > 0 { // its ends are a size, too
					cols, rows := 1+int(first[len(first)-1])%40, 1+int(first[0])%12
					src.Resize(cols, rows)
					dst.Resize(cols, rows)
				}
				f.SetTerminal(src)
				diff := p.Paint(nil, &f)
				dst.Write(diff)
				if want, got := r.wants(&f), r.shows(dst); !equalPictures(want, got) {
					t.Fatalf("%s, difference %q:\n%s", r.name, diff, compare(want, got))
				}
			}
			again := r.painter()
			fresh := r.fresh(again, f.Cols, f.Rows)
			full := again.Paint(nil, &f)
			fresh.Write(full)
			if want, got := r.wants(&f), r.shows(fresh); !equalPictures(want, got) {
				t.Fatalf("%s, full paint %q:\n%s", r.name, full, compare(want, got))
			}
		}
	})
}
