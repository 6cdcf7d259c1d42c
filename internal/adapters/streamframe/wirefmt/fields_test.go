package wirefmt

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"
)

// sample has each kind of field once.
type sample struct {
	U32   uint32
	I32   int
	U64   uint64
	I64   int64
	Flag  bool
	Fix32 uint32
	Fix64 uint64
	Text  string
	Texts []string
	Data  []byte
	Raw   string
	Raws  []string
	Part  part
	Maybe *part
	Parts []part
	Body  any // *part, leaf or nil
	ID    [4]byte
}

type (
	part struct{ N, Bounded uint32 }
	leaf struct{ S string }
)

var (
	errTooLarge = errors.New("too large")
	errTooMany  = errors.New("too many")
	errLength   = errors.New("another length")
)

const (
	mostParts   = 3
	mostBounded = 100
)

func visitPart(f *Fields, p *part) {
	Uint32(f, 1, &p.N)
	if Uint32(f, 2, &p.Bounded) {
		f.Note(2, nil)
		if p.Bounded > mostBounded {
			f.Note(2, errTooLarge)
		}
	}
}

func visitLeaf(f *Fields, l *leaf) { Text(f, 1, &l.S) }

func visitSample(f *Fields, s *sample) {
	Uint32(f, 1, &s.U32)
	Int32(f, 2, &s.I32)
	Uint64(f, 3, &s.U64)
	Uint64(f, 4, &s.I64)
	Bool(f, 5, &s.Flag)
	Fix32(f, 6, &s.Fix32)
	Fix64(f, 7, &s.Fix64)
	Text(f, 8, &s.Text)
	Texts(f, 9, &s.Texts)
	Data(f, 10, &s.Data)
	Raw(f, 11, &s.Raw)
	Raws(f, 12, &s.Raws)
	Message(f, 13, s.Part != (part{}), &s.Part, visitPart)
	Optional(f, 14, &s.Maybe, visitPart)
	Messages(f, 15, &s.Parts, func(n int) error {
		if n > mostParts {
			return errTooMany
		}
		return nil
	}, visitPart)
	Variant(f, 16, &s.Body, visitPart)
	Value(f, 17, &s.Body, visitLeaf)
	if n, taken := Exact(f, 18, s.ID[:]); taken {
		f.Note(18, nil)
		if n != len(s.ID) {
			f.Note(18, errLength)
		}
	}
}

func genPart() *rapid.Generator[part] {
	return rapid.Custom(func(t *rapid.T) part {
		return part{rapid.Uint32().Draw(t, "n"), rapid.Uint32Range(0, mostBounded).Draw(t, "bounded")}
	})
}

func list[T any](t *rapid.T, most int, g *rapid.Generator[T]) []T {
	l := rapid.SliceOfN(g, 0, most).Draw(t, "list")
	if len(l) == 0 {
		return nil
	}
	return l
}

func genSample() *rapid.Generator[*sample] {
	return rapid.Custom(func(t *rapid.T) *sample {
		p := genPart().Draw(t, "variant")
		return &sample{
			U32: rapid.Uint32().Draw(t, "u32"), I32: int(rapid.Int32().Draw(t, "i32")), U64: rapid.Uint64().Draw(t, "u64"),
			I64: rapid.Int64().Draw(t, "i64"), Flag: rapid.Bool().Draw(t, "flag"), Fix32: rapid.Uint32().Draw(t, "f32"),
			Fix64: rapid.Uint64().Draw(t, "f64"), Text: rapid.String().Draw(t, "text"), Texts: list(t, 4, rapid.String()),
			Data: list(t, 300, rapid.Byte()), Raw: string(list(t, 300, rapid.Byte())),
			Raws: list(t, 4, rapid.SampledFrom([]string{"", "\xff", "a"})), Part: genPart().Draw(t, "part"),
			Maybe: rapid.SampledFrom([]*part{nil, {}, {N: 1}}).Draw(t, "maybe"), Parts: list(t, mostParts, genPart()),
			Body: rapid.SampledFrom([]any{nil, &p, leaf{}, leaf{strings.Repeat("x", 20000)}}).Draw(t, "body"),
			ID:   rapid.SampledFrom([][4]byte{{}, {1, 2, 3, 4}}).Draw(t, "id"),
		}
	})
}

func TestMessagesSurvive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := genSample().Draw(t, "sample")
		b, err := Append([]byte("before"), m, visitSample)
		require.NoError(t, err)
		require.Equal(t, "before", string(b[:6]))
		got := new(sample)
		require.Zero(t, Read(b[6:], got, visitSample))
		require.Equal(t, m, got)

		again, err := AppendEnvelope(nil, 200, m, visitSample)
		require.NoError(t, err)
		require.Equal(t, protowire.AppendBytes(protowire.AppendTag(nil, 200, protowire.BytesType), b[6:]), again)
	})
}

func TestWritingRefusesBadText(t *testing.T) {
	for _, m := range []*sample{{Text: "\xff"}, {Texts: []string{"", "\xff"}}, {Body: leaf{"\xff"}}} {
		b, err := Append([]byte("kept"), m, visitSample)
		require.ErrorIs(t, err, ErrText)
		require.Equal(t, "kept", string(b))
	}
}

// tagged makes fields: pairs of a number and a value, uint64 or string.
func tagged(pairs ...any) (b []byte) {
	for i := 0; i < len(pairs); i += 2 {
		num := protowire.Number(pairs[i].(int))
		switch v := pairs[i+1].(type) {
		case int:
			b = protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), uint64(v))
		case []byte:
			b = protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), v)
		}
	}
	return b
}

func TestReading(t *testing.T) {
	one, large := tagged(1, 1), tagged(2, mostBounded+1)
	for what, tc := range map[string]struct {
		b       []byte
		want    sample
		refused string
		broken  string
		unknown bool
	}{
		"nothing":              {},
		"last number counts":   {b: tagged(1, 5, 1, 7), want: sample{U32: 7}},
		"low bits of a number": {b: tagged(1, math.MaxInt64), want: sample{U32: math.MaxUint32}},
		"last text counts":     {b: tagged(8, []byte("a"), 8, []byte{}), want: sample{}},
		"unknown field":        {b: tagged(90, 1, 1, 7), want: sample{U32: 7}, unknown: true},
		"another type":         {b: tagged(1, []byte("x"), 8, 3), unknown: true},
		"unknown inside":       {b: tagged(13, tagged(9, 1)), unknown: true},
		"given twice":          {b: tagged(13, one, 13, one), refused: "field 13 is given twice"},
		"pointer given twice":  {b: tagged(14, one, 14, one), refused: "field 14 is given twice"},
		"two variants":         {b: tagged(16, one, 17, []byte{}), refused: "field 17 is a second variant"},
		"a variant twice":      {b: tagged(17, []byte{}, 17, []byte{}), refused: "field 17 is a second variant"},
		"most parts":           {b: tagged(15, one, 15, one, 15, one), want: sample{Parts: []part{{N: 1}, {N: 1}, {N: 1}}}},
		"parts":                {b: tagged(15, one, 1, 2, 15, one, 15, one, 15, one), refused: "too many"},
		"noted":                {b: tagged(13, large), refused: "too large"},
		"noted, in a list":     {b: tagged(15, one, 15, large), refused: "too large"},
		"noted and given anew": {b: tagged(13, append(large[:len(large):len(large)], tagged(2, 5)...)), want: sample{Part: part{Bounded: 5}}},
		"bad text":             {b: tagged(8, []byte("\xff"), 8, []byte("a")), broken: "text is not UTF-8"},
		"bad texts":            {b: tagged(9, []byte("\xff")), broken: "text is not UTF-8"},
		"length":               {b: tagged(18, []byte("abcde")), refused: "another length"},
		"length given anew":    {b: tagged(18, []byte{}, 18, []byte("abcd")), want: sample{ID: [4]byte{'a', 'b', 'c', 'd'}}},
		"bytes need not be":    {b: tagged(11, []byte("\xff")), want: sample{Raw: "\xff"}},
		"cut":                  {b: tagged(8, []byte("abc"))[:3], broken: "unexpected EOF"},
		"cut inside":           {b: tagged(13, one[:1]), broken: "unexpected EOF"},
		"end of no group":      {b: []byte{1<<3 | 4}, broken: "mismatching end group marker"},
		"number":               {b: []byte{0}, broken: "invalid field number"},
	} {
		t.Run(what, func(t *testing.T) {
			var got sample
			out := Read(tc.b, &got, visitSample)
			switch {
			case tc.broken != "":
				require.EqualError(t, out.Broken, tc.broken)
				return
			case tc.refused != "":
				require.NoError(t, out.Broken)
				require.EqualError(t, out.Refused, tc.refused)
				return
			}
			require.Equal(t, Outcome{Unknown: tc.unknown}, out)
			require.Equal(t, tc.want, got)
		})
	}
}

// What must be there is missed at the end of its own message only.
func TestMissedFields(t *testing.T) {
	missing := errors.New("missing")
	visit := func(f *Fields, p *part) {
		visitPart(f, p)
		if f.Missed(1) {
			f.Refuse(missing)
		}
	}
	within := func(f *Fields, s *sample) {
		Message(f, 13, true, &s.Part, visit)
		Uint32(f, 1, &s.U32)
	}
	require.Zero(t, Read(tagged(13, tagged(1, 1)), new(sample), within))
	require.Zero(t, Read(tagged(1, 1), new(sample), within))
	require.Equal(t, missing, Read(tagged(1, 1, 13, tagged(2, 1)), new(sample), within).Refused)
}

// However many parts a peer announces, refusing them takes no memory for them.
func TestTooManyAllocateNothing(t *testing.T) {
	var b []byte
	for range 1000 {
		b = append(b, tagged(15, []byte{})...)
	}
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { Read(b, new(sample), visitSample) }), 4.0)
}
