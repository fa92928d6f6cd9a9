package calc

import (
	"flag"
	"os"
	"testing"
)

var factor = flag.Int("factor", 0, "")

func TestMain(m *testing.M) {
	flag.Parse()
	*factor = 2
	os.Exit(m.Run())
}

func TestDoubles(t *testing.T) {
	if got := Double(3); got != 3**factor {
		t.Errorf("got %d", got)
	}
}
