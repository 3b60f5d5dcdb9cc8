package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"sluice/internal/wire"
	"sluice/stages/execute/session"
)

// How many characters of a text stand in a line.
const (
	nameWidth  = 40
	wordsWidth = 60
	argsWidth  = 100
)

// cell returns the beginning of a text, without control codes, as a cell of a table.
func cell(text string, width int) string {
	runes := []rune(strings.Join(strings.Fields(stripped(text)), " "))
	if len(runes) <= width {
		return string(runes)
	}
	return string(runes[:width-1]) + "…"
}

// printTurn prints the session's turn of a number, from 1, for people. Errors are the buffer's, which
// keeps the first.
func printTurn(w io.Writer, number int, turn *wire.Turn) {
	fmt.Fprintf(w, "turn %d  %s  %s  %s\n", number, turn.Started.Local().Format(time.DateTime), cell(turn.Agent, nameWidth), turnEnd(turn.Status))
	fmt.Fprintln(w, quoted("> ", turn.Input))
	for i := range turn.Steps {
		step := &turn.Steps[i]
		if step.Text != "" && step.Text != turn.Response {
			fmt.Fprintln(w, stripped(step.Text))
		}
		for i := range step.Calls {
			printCall(w, &step.Calls[i])
		}
	}
	if turn.Response != "" {
		fmt.Fprintln(w, stripped(turn.Response))
	}
	fmt.Fprintln(w)
}

func turnEnd(status wire.TurnStatus) string {
	if status == wire.TurnRunning {
		return "running or interrupted"
	}
	return string(status)
}

// quoted puts a mark before each line.
func quoted(mark, text string) string {
	return mark + strings.ReplaceAll(stripped(text), "\n", "\n"+mark)
}

func printCall(w io.Writer, call *wire.TurnCall) {
	fmt.Fprintf(w, "  %s %s: %s\n", cell(call.Tool, nameWidth), cell(call.Arguments, argsWidth), callEnd(call))
}

func callEnd(call *wire.TurnCall) string {
	switch r := call.Result; {
	case r != nil:
		return fmt.Sprintf("%s, %d ms, %s", r.Status, r.Took.Milliseconds(), cell(r.Text, argsWidth))
	case call.Started:
		return "begun, outcome unknown"
	}
	return "not begun"
}

type sessionJSON struct {
	User    string `json:"user"`
	Session string `json:"session"`
	Turns   int    `json:"turns"`
	Last    string `json:"last"` // RFC 3339
	First   string `json:"first"`
}

func printSessionsJSON(w io.Writer, list []session.Summary) error {
	all := []sessionJSON{}
	for _, one := range list {
		all = append(all, sessionJSON{one.User, one.Session, one.Turns, one.Last.UTC().Format(time.RFC3339Nano), one.First})
	}
	return json.NewEncoder(w).Encode(all)
}

type turnJSON struct {
	ID       int64      `json:"id"`
	TraceID  string     `json:"trace_id"`
	Agent    string     `json:"agent"`
	Input    string     `json:"input"`
	Started  string     `json:"started"` // RFC 3339
	Status   string     `json:"status"`
	Response string     `json:"response"`
	Steps    []stepJSON `json:"steps"`
}

type stepJSON struct {
	Number int        `json:"step"`
	Text   string     `json:"text"`
	Calls  []callJSON `json:"calls"`
}

type callJSON struct {
	ID        string      `json:"call_id"`
	Tool      string      `json:"tool"`
	Function  string      `json:"function"`
	Arguments string      `json:"arguments"`
	Started   bool        `json:"started"`
	Result    *resultJSON `json:"result"` // null until it ended
}

type resultJSON struct {
	Status    string `json:"status"`
	Text      string `json:"text"`
	Retryable bool   `json:"retryable"`
	MS        int64  `json:"ms"`
}

func printTurnsJSON(w io.Writer, user, name string, turns []wire.Turn) error {
	all := []turnJSON{}
	for i := range turns {
		all = append(all, jsonOfTurn(&turns[i]))
	}
	return json.NewEncoder(w).Encode(struct {
		User    string     `json:"user"`
		Session string     `json:"session"`
		Turns   []turnJSON `json:"turns"`
	}{user, name, all})
}

func jsonOfTurn(t *wire.Turn) turnJSON {
	turn := turnJSON{t.ID, t.TraceID, t.Agent, t.Input, t.Started.UTC().Format(time.RFC3339Nano), string(t.Status), t.Response, []stepJSON{}}
	for i := range t.Steps {
		step := stepJSON{t.Steps[i].Number, t.Steps[i].Text, []callJSON{}}
		for _, c := range t.Steps[i].Calls {
			call := callJSON{c.ID, c.Tool, c.Function, c.Arguments, c.Started, nil}
			if r := c.Result; r != nil {
				call.Result = &resultJSON{string(r.Status), r.Text, r.Retryable, r.Took.Milliseconds()}
			}
			step.Calls = append(step.Calls, call)
		}
		turn.Steps = append(turn.Steps, step)
	}
	return turn
}
