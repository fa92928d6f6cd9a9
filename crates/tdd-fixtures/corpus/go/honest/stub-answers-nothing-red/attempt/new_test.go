package calc

import "testing"

func TestDoubles(t *testing.T) {
	if Words("a b")[1] != "b" {
		t.Fail()
	}
}
