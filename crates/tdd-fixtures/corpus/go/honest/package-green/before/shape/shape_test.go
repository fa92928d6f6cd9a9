package shape_test

import (
	"calc/shape"
	"testing"
)

func TestDoubles(t *testing.T) {
	if got := shape.Area(2); got != 4 {
		t.Errorf("got %d", got)
	}
}
