package shape_test

import (
	"calc/shape"
	"testing"
)

func TestDoubles(t *testing.T) {
	if shape.Area(2) != 4 {
		t.Fail()
	}
}
