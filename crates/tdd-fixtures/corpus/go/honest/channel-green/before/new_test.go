package calc

import (
	"testing"
	"time"
)

func TestDoubles(t *testing.T) {
	select {
	case got := <-Later(2):
		if got != 4 {
			t.Errorf("got %d", got)
		}
	case <-time.After(time.Second):
		t.Fatal("too late")
	}
}
