package wire

import "testing"

func TestResetKeepsMemory(t *testing.T) {
	events := Events{Items: make([]Event, 3, 8)}
	frames := Frames{Items: make([]Frame, 3, 8)}
	tokens := Tokens{make([]Token, 3, 8), "stop", &Usage{}, &PromptProgress{}}
	events.Reset()
	frames.Reset()
	tokens.Reset()
	if len(events.Items)+len(frames.Items)+len(tokens.Items) != 0 {
		t.Error("a batch is not empty")
	}
	if cap(events.Items) != 8 || cap(frames.Items) != 8 || cap(tokens.Items) != 8 {
		t.Error("a batch gave its memory away")
	}
	if tokens.Finish != "" || tokens.Usage != nil || tokens.Progress != nil {
		t.Errorf("facts are left: %+v", tokens)
	}
}

func TestFault(t *testing.T) {
	var err error = NewFault(CodeInvalidJSON, "line 3 is no JSON")
	if got := err.Error(); got != "invalid_json: line 3 is no JSON" {
		t.Error(got)
	}
}
