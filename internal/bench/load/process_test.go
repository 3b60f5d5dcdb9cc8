package load

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestServerServesUntilItsInputEnds(t *testing.T) {
	input, endInput := io.Pipe()
	output, addresses := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- ServeUntilEnd(input, addresses) }()
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
