package calc_test

import (
	"calc"
	"testing"
)

func TestDoubles(t *testing.T) {
	if calc.Double(2) != 4 {
		t.Fail()
	}
}
