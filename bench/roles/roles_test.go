package roles

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOtherArgumentsPlayNoRole(t *testing.T) {
	for _, arguments := range [][]string{nil, {"-engine", "x"}, {"serve-stdio"}} {
		if status, played := Run(arguments); played || status != 0 {
			t.Errorf("Run(%q) = %d, %v", arguments, status, played)
		}
	}
}

func TestWrongArgumentsOfARoleFail(t *testing.T) {
	for _, arguments := range [][]string{{Limit, "-nothing"}, {Limit, "-address", "127.0.0.1:0"}} {
		if status, played := Run(arguments); !played || status != 1 {
			t.Errorf("Run(%q) = %d, %v", arguments, status, played)
		}
	}
}
