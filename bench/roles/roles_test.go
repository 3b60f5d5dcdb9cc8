package roles

import (
	"bufio"
	"io"
	"net/http"
	"strings"
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

func TestLoadServerServesUntilItsInputEnds(t *testing.T) {
	input, endInput := io.Pipe()
	output, addresses := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- serveLoad(input, addresses) }()
	address, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get("http://" + strings.TrimSpace(address) + "/health")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("status %d", response.StatusCode)
	}
	endInput.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
