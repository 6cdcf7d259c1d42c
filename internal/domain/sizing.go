package domain

import "github.com/vev-term/vev/internal/domain/fault"

// SizePolicy says which of its clients decide a session's size.
type SizePolicy uint8

// The policies, numbered as on the wire.
const (
	SizeLatest   SizePolicy = iota // the client used last
	SizeSmallest                   // all: the fewest columns and the fewest rows that one has
	SizeLargest                    // all: the most columns and the most rows that one has
	SizeFixed                      // none: the size stays
	sizePolicies
)

var sizePolicyNames = [sizePolicies]string{"latest", "smallest", "largest", "fixed"}

// SizePolicyRule lists the names of the policies.
const SizePolicyRule = "a size policy is latest, smallest, largest or fixed"

// Valid reports whether p is one of the constants.
func (p SizePolicy) Valid() bool { return p < sizePolicies }

func (p SizePolicy) String() string {
	if !p.Valid() {
		return "unknown"
	}
	return sizePolicyNames[p]
}

// ParseSizePolicy returns the policy of that name, or a Usage fault.
func ParseSizePolicy(name string) (SizePolicy, error) {
	for i, n := range sizePolicyNames {
		if n == name {
			return SizePolicy(i), nil
		}
	}
	return 0, fault.New(fault.Usage, "bad size policy %q", name).WithHint("%s", SizePolicyRule)
}

// Claim is what one client brings to the decision.
type Claim struct {
	Size Size
	Used uint64 // orders the claims: the highest is of the client used last
}

// Decide returns the size of a session that is now of size now and has clients with these claims. Without any, the size
// stays.
func (p SizePolicy) Decide(now Size, claims []Claim) Size {
	if len(claims) == 0 || p == SizeFixed {
		return now
	}
	best := claims[0]
	for _, c := range claims[1:] {
		switch p {
		case SizeLatest:
			if c.Used > best.Used {
				best = c
			}
		case SizeSmallest:
			best.Size = Size{Cols: min(best.Size.Cols, c.Size.Cols), Rows: min(best.Size.Rows, c.Size.Rows)}
		case SizeLargest:
			best.Size = Size{Cols: max(best.Size.Cols, c.Size.Cols), Rows: max(best.Size.Rows, c.Size.Rows)}
		}
	}
	return best.Size
}
