package calc

import "testing"

func TestDoubles(t *testing.T) {
	got := Map([]int{2}, func(n int) string { return "x" })
	if len(got) != 1 {
		t.Fail()
	}
}
