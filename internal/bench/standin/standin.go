// Package standin is a program in the engine's place that speaks as much of NDJSON v1 as the
// benchmarks use, slowly and simply, so that they are tested without the engine.
//
// It runs in one goroutine, answers one request after another and closes nothing that it was given.
package standin

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

// Variable is the environment variable that makes a stand-in faulty, with one of the faults as its value.
const Variable = "BENCH_STANDIN"

// Faults of a stand-in.
const (
	Loses   = "loses"   // the first delta
	Repeats = "repeats" // the last delta
	Drops   = "drops"   // the first delta, and says so
	Dies    = "dies"    // when its reader goes away
	Fails   = "fails"   // every chat
)

// Wanted reports whether a program was started with the arguments of an engine.
func Wanted(arguments []string) bool { return len(arguments) > 0 && arguments[0] == "serve-stdio" }

var serverURL = regexp.MustCompile(`url: "([^"]+)"`)

// Run plays the engine until the input ends. The last argument is the path of the configuration.
func Run(arguments []string, input io.Reader, output io.Writer) error {
	if os.Getenv(Variable) != Dies {
		signal.Ignore(syscall.SIGPIPE)
	}
	config, err := os.ReadFile(arguments[len(arguments)-1])
	if err != nil {
		return err
	}
	dropped := 0
	for lines := bufio.NewScanner(input); lines.Scan(); {
		request := gjson.Parse(lines.Text())
		id := request.Get("id").Raw
		switch request.Get("method").Str {
		case "ping", "initialize":
			fmt.Fprintf(output, `{"id":%s,"type":"result","result":{"status":"ok"}}`+"\n", id)
		case "stats":
			fmt.Fprintf(output, statsLine, id, dropped)
		case "chat":
			if os.Getenv(Variable) == Drops {
				dropped++
			}
			if err := chat(output, id, request.Get("params.input").Str, serverURL.FindSubmatch(config)); err != nil {
				return err
			}
		}
	}
	return nil
}

const statsLine = `{"id":%s,"type":"result","result":{"queue":{"max_bytes":77},"written":{"frames":0,"batches":0},` +
	`"merged":0,"dropped":%d,"stalls":{"reader":{"count":0,"ms":0}}}}` + "\n"

func chat(output io.Writer, id, text string, server [][]byte) error {
	fmt.Fprintf(output, `{"id":%s,"type":"event","event":"llm_start","step":0}`+"\n", id)
	deltas := []string{" hello"}
	if server != nil {
		var err error
		if deltas, err = ask(string(server[1]), text); err != nil {
			return err
		}
	}
	response, err := json.Marshal(strings.Join(deltas, ""))
	if err != nil {
		return err
	}
	if os.Getenv(Variable) == Fails {
		_, err = fmt.Fprintf(output, `{"id":%s,"type":"error","code":"internal_error","message":"failed"}`+"\n", id)
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
	switch os.Getenv(Variable) {
	case Loses, Drops:
		return deltas[1:]
	case Repeats:
		return append(deltas, deltas[len(deltas)-1])
	}
	return deltas
}

func ask(url, text string) ([]string, error) {
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
