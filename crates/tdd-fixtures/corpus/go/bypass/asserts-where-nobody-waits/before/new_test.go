package calc

import "testing"

func TestDoubles(t *testing.T) {
	done := make(chan struct{})
	go func() {
		<-done
		if Double(4) != 8 {
			t.Error("twice four is eight")
		}
	}()
}
