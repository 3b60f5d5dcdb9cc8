//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// chatCommand is the built program's chat, in an empty folder and without our settings.
func chatCommand(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, append([]string{"chat"}, args...)...)
	cmd.Dir = t.TempDir()
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "SLUICE_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	return cmd
}

// outcome runs a command to its end.
func outcome(t *testing.T, cmd *exec.Cmd) (stdout, stderr string, status int) {
	t.Helper()
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	var failed *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return out.String(), log.String(), cmd.ProcessState.ExitCode()
}

func TestChatProgram(t *testing.T) {
	stdout, stderr, status := outcome(t, chatCommand(t, "--demo", "What is a pipe?"))
	if len(strings.Fields(stdout)) < 5 || !strings.HasSuffix(stdout, "\n") || stderr != "" || status != exitDone {
		t.Errorf("stdout %q, stderr %q, status %d", stdout, stderr, status)
	}
}

func TestChatProgramAsksWhatStdinHolds(t *testing.T) {
	cmd := chatCommand(t, "--demo", "--json", "--session", "s1")
	cmd.Stdin = strings.NewReader("What is\na \"pipe\"?\n")
	stdout, stderr, status := outcome(t, cmd)
	if stderr != "" || status != exitDone {
		t.Errorf("stderr %q, status %d", stderr, status)
	}
	var text, response string
	for line := range strings.Lines(stdout) {
		var m message
		var start struct {
			Input string `json:"user_input"`
		}
		if err := errors.Join(json.Unmarshal([]byte(line), &m), json.Unmarshal([]byte(line), &start)); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if m.Event == "run_start" && start.Input != "What is\na \"pipe\"?\n" {
			t.Errorf("the input was %q", start.Input)
		}
		text += m.Delta
		if m.Result != nil {
			response = m.Result.Response
		}
	}
	if text == "" || text != response || !strings.Contains(stdout, `"session_id":"s1"`) {
		t.Errorf("the deltas are %q, the response %q", text, response)
	}
}

func TestChatProgramFails(t *testing.T) {
	tests := []struct {
		name, config, stderr string
		args                 []string
		status               int
	}{
		{"no configuration", "", "sluice: config_missing: ", []string{"hi"}, exitFailed},
		{"unknown agent", "", `sluice: invalid_request: unknown agent "nobody"`, []string{"--demo", "--agent", "nobody", "hi"}, exitFailed},
		{"broken configuration", "foo: 1\n", "sluice: config.yaml:1: foo", []string{"hi"}, exitUsage},
		{"no text", "", "sluice: there is nothing to ask", []string{"--demo"}, exitUsage},
		{"two texts", "", "sluice: accepts at most 1 arg(s)", []string{"--demo", "what", "now"}, exitUsage},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cmd := chatCommand(t, test.args...)
			if test.config != "" {
				if err := os.WriteFile(filepath.Join(cmd.Dir, "config.yaml"), []byte(test.config), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			stdout, stderr, status := outcome(t, cmd)
			if stdout != "" || !strings.Contains(stderr, test.stderr) || strings.Count(stderr, "\n") != 1 || status != test.status {
				t.Errorf("stdout %q, stderr %q, status %d", stdout, stderr, status)
			}
		})
	}
}

// TestChatProgramVerbose: the engine's log and the figures come to stderr, the answer alone to stdout.
func TestChatProgramVerbose(t *testing.T) {
	cmd := chatCommand(t, "--demo", "--verbose", "hi")
	cmd.Env = append(cmd.Env, "SLUICE_NOTHING=1") // which the engine warns about
	stdout, stderr, status := outcome(t, cmd)
	if !strings.Contains(stderr, "level=WARN") || !strings.Contains(stderr, " tokens, first after ") || strings.Contains(stdout, "level=") || status != exitDone {
		t.Errorf("stdout %q, stderr %q, status %d", stdout, stderr, status)
	}
}

// endlessServer is a model server that says "word " and then waits for the end of the request.
func endlessServer(t *testing.T) (url string, ended <-chan struct{}) {
	t.Helper()
	left := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			fmt.Fprint(w, `{"status":"ok"}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"word "}}],"object":"chat.completion.chunk"}`+"\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(left)
	}))
	t.Cleanup(server.Close)
	return server.URL, left
}

// TestChatProgramInterrupted sends what a terminal's Ctrl-C sends: SIGINT to the whole process group.
func TestChatProgramInterrupted(t *testing.T) {
	url, ended := endlessServer(t)
	cmd := chatCommand(t, "--verbose", "hi")
	cmd.Env = append(cmd.Env, "SLUICE_LLAMA_SERVER_URL="+url)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	word := make([]byte, 5)
	if _, err := out.Read(word); err != nil || string(word) != "word " {
		t.Errorf("the first text is %q (%v)", word, err)
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Error(err)
	}
	<-ended
	_ = cmd.Wait() // the state tells
	if status := cmd.ProcessState.ExitCode(); status != exitFailed {
		t.Errorf("the exit status is %d", status)
	}
	if text := log.String(); !strings.Contains(text, "sluice: cancelled: ") || strings.Contains(text, "signal=") {
		t.Errorf("stderr is %q; the signal must not reach the engine", text)
	}
}

// TestChatProgramBrokenStdout: a reader that leaves cancels the chat, quietly.
func TestChatProgramBrokenStdout(t *testing.T) {
	cmd := chatCommand(t, "--demo", "hi")
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = writer, &log
	_ = cmd.Run() // the state tells
	writer.Close()
	if cmd.ProcessState.ExitCode() != exitFailed || log.Len() > 0 {
		t.Errorf("it ended with %v and stderr %q", cmd.ProcessState, log.String())
	}
}

// TestChatProgramBrokenStderr: nobody reads the log and the figures, and the answer still comes.
func TestChatProgramBrokenStderr(t *testing.T) {
	cmd := chatCommand(t, "--demo", "--verbose", "hi")
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	reader.Close()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, writer
	_ = cmd.Run() // the state tells
	writer.Close()
	if cmd.ProcessState.ExitCode() != exitDone || !strings.HasSuffix(out.String(), "\n") {
		t.Errorf("it ended with %v and stdout %q", cmd.ProcessState, out.String())
	}
}
