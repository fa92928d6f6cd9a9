package calc

import "testing"

func TestDoubles(t *testing.T) {
	got, err := Add(1, 2)
	if err != nil || got != 3 {
		t.Fail()
	}
}
