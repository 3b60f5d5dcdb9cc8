package pipeline

import (
	"context"
	"fmt"
	"testing"
	"time"

	"sluice/internal/wire"
	"sluice/stages/execute"
)

// TestProgressIsRepeated at least once a second, until nothing is waited for.
func TestProgressIsRepeated(t *testing.T) {
	tells(t, withProgress, func(c *telling) {
		c.Progress(loading(-1, "m"))
		time.Sleep(2 * time.Second)
		c.Progress(nil)
		time.Sleep(time.Minute)
		c.Progress(nil)
	}, `0 progress","stage":"model_load","fraction":null,"detail":"m"`,
		`900 progress","stage":"model_load","fraction":null,"detail":"m"`,
		`1800 progress","stage":"model_load","fraction":null,"detail":"m"`,
		`62000 done`)
}

// TestProgressIsToldWhenItChanges: at once, but for a fraction that moves all the time.
func TestProgressIsToldWhenItChanges(t *testing.T) {
	tells(t, withProgress, func(c *telling) {
		c.Progress(&wire.Progress{Stage: wire.PhaseQueue, Fraction: -1, Detail: "m"})
		c.Progress(loading(-1, "m"))
		c.Progress(loading(-1, "m")) // the same
		c.Progress(loading(-1, "n"))
		c.Progress(loading(0, "n"))
		for i := range 12 {
			time.Sleep(20 * time.Millisecond)
			c.Progress(loading(float64(i+1)/100, fmt.Sprint(i+1)))
		}
		time.Sleep(time.Second - 240*time.Millisecond)
	}, `0 progress","stage":"queue","fraction":null,"detail":"m"`,
		`0 progress","stage":"model_load","fraction":null,"detail":"m"`,
		`0 progress","stage":"model_load","fraction":null,"detail":"n"`,
		`0 progress","stage":"model_load","fraction":0,"detail":"n"`,
		`100 progress","stage":"model_load","fraction":0.05,"detail":"5"`,
		`200 progress","stage":"model_load","fraction":0.1,"detail":"10"`,
		`1000 done`)
}

// TestProgressFillsSilenceAlone: while the chat sends anything else, what it waits for isn't repeated.
func TestProgressFillsSilenceAlone(t *testing.T) {
	tells(t, withProgress, func(c *telling) {
		c.Progress(&wire.Progress{Stage: wire.PhaseTool, Fraction: -1, Detail: "fs/read"})
		for range 4 {
			time.Sleep(800 * time.Millisecond)
			c.event(wire.EventMemoryStart)
		}
		time.Sleep(950 * time.Millisecond)
	}, `0 progress","stage":"tool","fraction":null,"detail":"fs/read"`,
		`800 memory_start"`, `1600 memory_start"`, `2400 memory_start"`, `3200 memory_start"`,
		`4100 progress","stage":"tool","fraction":null,"detail":"fs/read"`,
		`4150 done`)
}

// TestProgressEndsWithTheChat: nothing comes behind the final frame, also from others who still tell.
func TestProgressEndsWithTheChat(t *testing.T) {
	tells(t, withProgress, func(c *telling) {
		c.Progress(loading(-1, "m"))
		go func() {
			time.Sleep(2 * time.Second)
			c.Progress(loading(-1, "late"))
			c.Progress(nil)
		}()
		time.Sleep(100 * time.Millisecond)
	}, `0 progress","stage":"model_load","fraction":null,"detail":"m"`, `100 done`)
}

// TestStepsTellOfThePrompt once they are silent; the first text ends it.
func TestStepsTellOfThePrompt(t *testing.T) {
	tells(t, withProgress, func(c *telling) {
		c.Progress(loading(-1, "m"))
		time.Sleep(500 * time.Millisecond)
		c.Progress(nil)
		c.step(t, "PROGRESS PROGRESS a b")
		c.step(t, "c")
	}, `0 progress","stage":"model_load","fraction":null,"detail":"m"`,
		`500 llm_start","step":0`,
		`1400 progress","stage":"prompt","fraction":null,"detail":"reading the prompt"`,
		`1500 progress","stage":"prompt","fraction":0.5,"detail":"1 of 2 tokens"`,
		`2400 progress","stage":"prompt","fraction":0.5,"detail":"1 of 2 tokens"`,
		`2500 progress","stage":"prompt","fraction":1,"detail":"2 of 2 tokens"`,
		`3400 progress","stage":"prompt","fraction":1,"detail":"2 of 2 tokens"`,
		`3500 llm_chunk","step":0,"delta":"a"`,
		`4500 llm_chunk","step":0,"delta":"b"`,
		`4500 llm_done","step":0`,
		`4500 llm_start","step":0`,
		`5400 progress","stage":"prompt","fraction":null,"detail":"reading the prompt"`,
		`5500 llm_chunk","step":0,"delta":"c"`,
		`5500 llm_done","step":0`,
		`5500 done`)
}

// TestStepsTellOfWhatBecomesNoEvent: thoughts that the host doesn't see, and the pieces of a call.
func TestStepsTellOfWhatBecomesNoEvent(t *testing.T) {
	tells(t, withProgress, func(c *telling) {
		c.step(t, "(hm) CALL CALL")
		time.Sleep(10 * time.Second)
	}, `0 llm_start","step":0`,
		`900 progress","stage":"prompt","fraction":null,"detail":"reading the prompt"`,
		`1800 progress","stage":"prompt","fraction":null,"detail":"the model is thinking"`,
		`2700 progress","stage":"tool","fraction":null,"detail":"the model is writing a tool call"`,
		`3000 llm_done","step":0`,
		`13000 done`)
	tells(t, execute.Extensions{Progress: true, Reasoning: true}, func(c *telling) { c.step(t, "(hm) a") },
		`0 llm_start","step":0`,
		`900 progress","stage":"prompt","fraction":null,"detail":"reading the prompt"`,
		`1000 llm_reasoning","step":0,"delta":"hm"`,
		`2000 llm_chunk","step":0,"delta":"a"`,
		`2000 llm_done","step":0`,
		`2000 done`)
}

// TestAFailedStepEndsItsProgress, whatever execute does then.
func TestAFailedStepEndsItsProgress(t *testing.T) {
	tells(t, withProgress, func(c *telling) {
		request := &wire.ModelRequest{Messages: []wire.Message{{Content: "FAIL"}}}
		c.event(wire.EventLLMStart)
		if _, err := c.Step(context.Background(), scriptedLease{}, 0, request, func(int64) {}); err == nil {
			t.Error("it did not fail")
		}
		time.Sleep(time.Minute)
	}, `0 llm_start","step":0`,
		`900 progress","stage":"prompt","fraction":null,"detail":"reading the prompt"`,
		`61000 done`)
}

// TestWithoutTheExtensionNothingIsTold, and nothing stands between the chat and its lane.
func TestWithoutTheExtensionNothingIsTold(t *testing.T) {
	tells(t, execute.Extensions{}, func(c *telling) {
		c.Progress(loading(-1, "m"))
		time.Sleep(2 * time.Second)
		c.Progress(nil)
		c.step(t, "PROGRESS a")
		if own := c.Chat.(*chat); own.lane != Lane(c.lane) || own.progress != nil {
			t.Error("the lane is wrapped")
		}
	}, `2000 llm_start","step":0`, `4000 llm_chunk","step":0,"delta":"a"`, `4000 llm_done","step":0`, `4000 done`)
}

func TestPromptRead(t *testing.T) {
	for _, c := range []struct {
		read     wire.PromptProgress
		fraction float64
	}{
		{wire.PromptProgress{}, -1}, {wire.PromptProgress{Total: 4, Cached: 1, Processed: 2}, 0.5}, {wire.PromptProgress{Total: 4, Processed: 4}, 1},
	} {
		if got := promptRead(&c.read); got.Fraction != c.fraction || got.Stage != wire.PhasePrompt {
			t.Errorf("%+v became %+v", c.read, got)
		}
	}
}
