package quic

import (
	"bytes"
	"testing"

	"github.com/vev-term/vev/internal/protocol"
)

func FuzzReadyLine(f *testing.F) {
	line, _ := (&invitation{port: 1, expires: tokenLifetime}).line()
	f.Add(line)
	f.Add([]byte(`{"schema":1}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		i, err := parseReady(in)
		if err != nil {
			return
		}
		out, err := i.line()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := parseReady(out); err != nil || *again != *i {
			t.Fatalf("%+v came back as %+v: %v", i, again, err)
		}
	})
}

func FuzzAuthRecord(f *testing.F) {
	f.Add((&authRecord{public: []byte("key")}).append(nil))
	f.Add([]byte{0, 0, 1, 0xfc})
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bytes.NewReader(in)
		a, err := readAuth(r)
		if err != nil {
			return
		}
		if out := a.append(nil); !bytes.Equal(out, in[:len(in)-r.Len()]) || len(out) > maxAuthBytes {
			t.Fatalf("%x was read from %x", out, in)
		}
	})
}

func FuzzStreamHead(f *testing.F) {
	open, _ := appendOpen(4, "", protocol.StartIfNeeded)
	opened, _ := appendOpened(4)
	refused, _ := appendRefused(4, protocol.Failure{Text: "no"})
	for _, b := range [][]byte{open, opened, refused} {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bytes.NewReader(in)
		if m, err := readOpen(r, 4); err == nil {
			if m.Ref != refOf(4) || len(m.Host) > protocol.MaxHostBytes {
				t.Fatalf("%+v was let through", m)
			}
		}
		if r.Len() < len(in)-maxHeadBytes {
			t.Fatal("more was read than a head may have")
		}
		_ = readAnswer(bytes.NewReader(in), 4)
	})
}

func FuzzRepeat(f *testing.F) {
	f.Add((&repeat{4, 300, []byte("x")}).append(nil))
	f.Add([]byte{datagramNothing})
	f.Fuzz(func(t *testing.T, in []byte) {
		r, err := parseRepeat(in)
		if err != nil || r == nil {
			return
		}
		if n := len(r.data); n == 0 || n > maxRepeatBytes || r.stream < 0 || r.offset < 0 || r.offset+int64(n) < 0 {
			t.Fatalf("%+v was let through", r)
		}
		again, err := parseRepeat(r.append(nil))
		if err != nil || again.stream != r.stream || again.offset != r.offset || !bytes.Equal(again.data, r.data) {
			t.Fatalf("%+v came back as %+v: %v", r, again, err)
		}
	})
}
