package workload

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"github.com/tidwall/gjson"
)

// The stand-in speaks as much of NDJSON v1 as the workloads use, slowly and simply, so that the
// harness is tested without the engine. BENCH_STANDIN makes it faulty.

var serverURL = regexp.MustCompile(`url: "([^"]+)"`)

func runStandIn(arguments []string, input io.Reader, output io.Writer) error {
	signal.Ignore(syscall.SIGPIPE)
	config, err := os.ReadFile(arguments[len(arguments)-1])
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(input); lines.Scan(); {
		request := gjson.Parse(lines.Text())
		id := request.Get("id").Raw
		switch request.Get("method").Str {
		case "ping", "initialize":
			fmt.Fprintf(output, `{"id":%s,"type":"result","result":{"status":"ok"}}`+"\n", id)
		case "stats":
			fmt.Fprintf(output, `{"id":%s,"type":"result","result":{"written":{"frames":0,"batches":0}}}`+"\n", id)
		case "chat":
			if err := standInChat(output, id, request.Get("params.input").Str, serverURL.FindSubmatch(config)); err != nil {
				return err
			}
		}
	}
	return nil
}

func standInChat(output io.Writer, id, text string, server [][]byte) error {
	fmt.Fprintf(output, `{"id":%s,"type":"event","event":"llm_start","step":0}`+"\n", id)
	deltas := []string{" hello"}
	if server != nil {
		var err error
		if deltas, err = standInDeltas(string(server[1]), text); err != nil {
			return err
		}
	}
	response, err := json.Marshal(strings.Join(deltas, ""))
	if err != nil {
		return err
	}
	var lines bytes.Buffer
	for _, delta := range damage(deltas) {
		fmt.Fprintf(&lines, `{"id":%s,"type":"event","event":"llm_chunk","step":0,"delta":"%s"}`+"\n", id, delta)
	}
	fmt.Fprintf(&lines, `{"id":%s,"type":"result","result":{"response":%s,"events":{"merged":0,"dropped":0}}}`+"\n", id, response)
	_, _ = lines.WriteTo(output) // a reader that went away is no reason to stop serving
	return nil
}

func damage(deltas []string) []string {
	switch os.Getenv("BENCH_STANDIN") {
	case "loses":
		return deltas[1:]
	case "repeats":
		return append(deltas, deltas[len(deltas)-1])
	}
	return deltas
}

func standInDeltas(url, text string) ([]string, error) {
	body := `{"messages":[{"role":"user","content":"` + text + `"}],"stream":true}`
	response, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var deltas []string
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		data, _ := strings.CutPrefix(lines.Text(), "data: ")
		if content := gjson.Get(data, "choices.0.delta.content"); content.Type == gjson.String {
			deltas = append(deltas, content.Str)
		}
	}
	return deltas, lines.Err()
}
