package calc

import "testing"

func TestSaves(t *testing.T) {
	store := []int{3}
	Save(store, 3)
	if store[0] != 3 {
		t.Error("three was saved")
	}
}
