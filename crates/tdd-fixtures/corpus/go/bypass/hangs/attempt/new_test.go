package calc

import (
	"testing"
	"time"
)

func TestDoubles(t *testing.T) {
	time.Sleep(time.Minute)
	if Add(1, 2) != 4 {
		t.Fail()
	}
}
