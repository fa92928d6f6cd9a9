package calc

import "testing"

func TestMain(m *testing.M) {}
