package calc

import "testing"

func TestDoubles(t *testing.T) {
	got := Map([]int{1, 2}, func(n int) int { return n + 1 })
	if len(got) != 2 || got[1] != 3 {
		t.Errorf("got %v", got)
	}
}
