package calc

import (
	"reflect"
	"testing"
)

func TestDoubles(t *testing.T) {
	want := []int{2, 4}
	if got := DoubleAll([]int{1, 2}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
