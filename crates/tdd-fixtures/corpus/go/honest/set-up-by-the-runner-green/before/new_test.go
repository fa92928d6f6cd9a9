package calc

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDoubles(t *testing.T) {
	t.Setenv("FACTOR", "2")
	if err := os.WriteFile(filepath.Join(t.TempDir(), "n"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := Double(2); got != 4 {
		t.Errorf("got %d", got)
	}
}
