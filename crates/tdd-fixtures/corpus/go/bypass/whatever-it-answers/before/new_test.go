package calc

import "testing"

func TestDoubles(t *testing.T) {
	if got := Double(2); got != Double(2) {
		t.Fail()
	}
}
