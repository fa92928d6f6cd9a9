package calc

import "testing"

func TestDoubles(t *testing.T) {
	if _, err := Half(3); err == nil {
		t.Error("three has no half")
	}
	got, err := Half(4)
	if err != nil {
		t.Fatal(err)
	}
	if got != 2 {
		t.Errorf("got %d", got)
	}
}
