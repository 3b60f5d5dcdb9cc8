package agent

import (
	"context"
	"log/slog"
	"time"

	"sluice/internal/wire"
)

// Agent is what of an agent's configuration a turn goes by.
type Agent struct {
	Name, SystemPrompt string
	// MaxSteps bounds the model steps; at least 1.
	MaxSteps int
	// MaxTokens bounds each step's answer; 0 leaves it to the server.
	MaxTokens   int
	Temperature *float64
	// Tools are globs on server/tool; none means that the agent has no tools.
	Tools []string
}

// Options are one turn. Model, Tools, Sessions, Approvals, Event and Progress must be set.
type Options struct {
	Agent
	UserID, SessionID, TraceID, Input string
	// Resume continues the session's last turn where it was interrupted.
	Resume bool

	// MaxParseErrors is how many times the model is asked again for a tool call that can't be read.
	MaxParseErrors int
	// ResultBytes is how much of a tool's result the model gets to see.
	ResultBytes int
	// ASCII escapes everything outside ASCII in the response.
	ASCII bool
	// CallIDs tells the host the calls' ids.
	CallIDs bool

	Model     Model
	Tools     Tools
	Sessions  Sessions
	Memory    Memory // nil is none
	Approvals Approvals

	// Event sends an event; Progress says what is being waited for, nil that nothing is.
	Event    func(wire.Event)
	Progress func(*wire.Progress)
	// Yield is called before the turn waits for something that others need not wait for. Warm, when
	// set, starts the model's server in the meantime.
	Yield func()
	Warm  func(ctx context.Context) error
	// ByName finds the agent that a resumed turn was begun by, and makes it the turn's; false when there is
	// none of that name any more. Nil leaves the turn to Agent.
	ByName func(name string) (Agent, bool)
	// Park is called before the turn waits for its session, Unpark after that; it may wait, too.
	Park   func()
	Unpark func(ctx context.Context) error

	Logger *slog.Logger
}

// Result is what came of a turn, also of one that ended with an error.
type Result struct {
	// Response is the final answer; of a turn that has none, all text until its end. It is escaped for
	// the inside of a JSON string and nobody changes it any more.
	Response []byte
	// FinishReason is the last step's, or "aborted".
	FinishReason string
	Steps        int
	Usage        *wire.Usage
	Warnings     []string
	// ToolTime is the time that was spent waiting for tools and their servers.
	ToolTime time.Duration
	// LoadTime is the time in which only the model's start was awaited before its first step.
	LoadTime time.Duration
}

// FinishAborted is the finish reason of a turn that loop_abort ended.
const FinishAborted = "aborted"

// turn is one turn while it runs.
type turn struct {
	Options
	result  *Result
	session Session
	stored  bool // the turn has a row in the session
	// answered says that the turn had its answer in an earlier life, which its host may never have read.
	answered bool
	// stepStored says that the last step is in the session with its calls.
	stepStored bool
	record     wire.Turn
	tools      []wire.Tool
	prompt     prompt
	// texts are those of the steps so far, escaped.
	texts [][]byte
	// unsaved is the plain text of the step that is in no saved step.
	unsaved      string
	storeWarned  bool
	parseErrors  int
	failedRounds int
}

// Run runs a turn to its end and fills result as it goes on, so that it holds what there was also after
// a panic. The error is a *wire.Fault or the cause of ctx.
func Run(ctx context.Context, options Options, result *Result) error {
	t := &turn{Options: options, result: result}
	if t.Logger == nil {
		t.Logger = slog.New(slog.DiscardHandler)
	}
	return t.run(ctx)
}

func (t *turn) run(ctx context.Context) error {
	if !t.Resume {
		t.start(t.Input)
	}
	if err := t.open(ctx); err != nil {
		if t.Resume {
			t.start(t.Input)
		}
		return err
	}
	defer t.session.Close()
	t.begin(ctx)
	if t.Resume {
		t.start(t.record.Input)
	}
	if t.answered {
		t.repeat()
		return nil
	}
	end, err := t.work(ctx)
	t.finish(ctx, end, err)
	t.warnOfSession()
	return err
}

// start sends the turn's first event.
func (t *turn) start(input string) {
	t.Event(wire.Event{Kind: wire.EventRunStart, Detail: &wire.RunStart{UserInput: input, TraceID: t.TraceID}})
}

// open waits for the session.
func (t *turn) open(ctx context.Context) (err error) {
	parked := false
	t.session, err = t.Sessions.Open(ctx, t.UserID, t.SessionID, func() {
		parked = true
		t.Park()
	})
	if err != nil {
		return err
	}
	t.warnOfSession()
	if !parked {
		return nil
	}
	if err = t.Unpark(ctx); err != nil {
		t.session.Close()
	}
	return err
}

// warnOfSession tells what the session has to tell. Damage may be met at any of its reads and writes.
func (t *turn) warnOfSession() {
	for _, warning := range t.session.Warnings() {
		t.warn(warning)
	}
}

// begin stores the new turn, or takes up the one that was interrupted.
func (t *turn) begin(ctx context.Context) {
	if t.Resume && t.takeUp(ctx) {
		return
	}
	t.record = wire.Turn{TraceID: t.TraceID, Agent: t.Agent.Name, Input: t.Input, Started: time.Now(), Status: wire.TurnRunning}
	t.save(ctx, func(ctx context.Context) error { return t.session.Begin(ctx, &t.record) })
	t.stored = t.record.ID != 0
}

// end is how the work of a turn ended without an error.
type end struct {
	status wire.TurnStatus
	step   int
}

// finish stores the end and sends the last event of a turn that has its answer.
func (t *turn) finish(ctx context.Context, e end, err error) {
	status := e.status
	switch {
	case err == nil:
	case ctx.Err() != nil:
		status = wire.TurnCancelled
	default:
		status = wire.TurnFailed
	}
	if t.stored {
		t.save(ctx, func(ctx context.Context) error { return t.session.End(ctx, t.record.ID, status, t.unsaved) })
	}
	if status == wire.TurnDone {
		t.Event(wire.Event{Kind: wire.EventFinal, Step: e.step, Text: t.result.Response})
	} else {
		t.result.Response = joined(t.texts)
	}
}

// warn tells the host something about the turn, once.
func (t *turn) warn(text string) {
	for _, told := range t.result.Warnings {
		if told == text {
			return
		}
	}
	t.result.Warnings = append(t.result.Warnings, text)
}
