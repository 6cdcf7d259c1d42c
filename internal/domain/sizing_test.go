package domain

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/vev-term/vev/internal/domain/fault"
)

func genSize() *rapid.Generator[Size] {
	return rapid.Custom(func(t *rapid.T) Size {
		return Size{Cols: rapid.IntRange(1, MaxCols).Draw(t, "cols"), Rows: rapid.IntRange(1, MaxRows).Draw(t, "rows")}
	})
}

// genClaims draws claims with different uses, in any order.
func genClaims(least int) *rapid.Generator[[]Claim] {
	return rapid.Custom(func(t *rapid.T) []Claim {
		uses := rapid.SliceOfNDistinct(rapid.Uint64(), least, 6, rapid.ID).Draw(t, "uses")
		claims := make([]Claim, len(uses))
		for i, u := range uses {
			claims[i] = Claim{Size: genSize().Draw(t, "size"), Used: u}
		}
		return claims
	})
}

func fits(inner, outer Size) bool { return inner.Cols <= outer.Cols && inner.Rows <= outer.Rows }

func TestSizePoliciesKeepTheirWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now, claims := genSize().Draw(t, "now"), genClaims(1).Draw(t, "claims")
		latest := SizeLatest.Decide(now, claims)
		smallest, largest := SizeSmallest.Decide(now, claims), SizeLargest.Decide(now, claims)
		cols, rows := map[int]bool{}, map[int]bool{}
		for _, c := range claims {
			require.True(t, fits(smallest, c.Size), "each client sees all of the smallest")
			require.True(t, fits(c.Size, largest), "no client has a border in the largest")
			cols[c.Size.Cols], rows[c.Size.Rows] = true, true
		}
		for _, s := range []Size{latest, smallest, largest} {
			require.True(t, s.Valid())
			require.True(t, cols[s.Cols] && rows[s.Rows], "no size but those that clients have")
		}
		for _, c := range claims {
			if c.Size == latest {
				continue
			}
			later := false
			for _, o := range claims {
				later = later || o.Used > c.Used && o.Size == latest
			}
			require.True(t, later, "whoever does not decide was used before one who does")
		}
		require.Equal(t, now, SizeFixed.Decide(now, claims))
	})
}

func TestSizeDoesNotDependOnTheOrderOfClients(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now, claims := genSize().Draw(t, "now"), genClaims(0).Draw(t, "claims")
		shuffled := rapid.Permutation(claims).Draw(t, "shuffled")
		for p := range sizePolicies {
			size := p.Decide(now, claims)
			require.Equal(t, size, p.Decide(now, shuffled), p.String())
			require.Equal(t, size, p.Decide(size, claims), "%s: deciding again changes nothing", p)
			require.Equal(t, now, p.Decide(now, nil), "%s: without clients the size stays", p)
		}
	})
}

func TestSizePoliciesHaveNames(t *testing.T) {
	for p := range sizePolicies {
		parsed, err := ParseSizePolicy(p.String())
		require.NoError(t, err)
		require.Equal(t, p, parsed)
		require.Contains(t, SizePolicyRule, p.String())
	}
	_, err := ParseSizePolicy("biggest")
	require.Equal(t, fault.Usage, fault.KindOf(err))
	require.False(t, sizePolicies.Valid())
	require.Equal(t, "unknown", sizePolicies.String())
}
