package vt

import (
	"sort"
	"testing"

	"github.com/stretchr/testify/require"
)

// They are searched by halves.
func TestColorNamesAreInOrder(t *testing.T) {
	require.True(t, sort.SliceIsSorted(colorNames[:], func(i, j int) bool { return colorNames[i].name < colorNames[j].name }))
	for _, c := range colorNames {
		got, ok := namedColor(c.name)
		require.True(t, ok, c.name)
		require.Equal(t, colorDirect|c.color, got, c.name)
	}
	for _, none := range []string{"", "a", "rebecca", "zz"} {
		_, ok := namedColor(none)
		require.False(t, ok, none)
	}
}
