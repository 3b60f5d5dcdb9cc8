package main

import (
	"io"
	"log/slog"
	"reflect"
	"testing"
	"time"

	"sluice/internal/config"
	"sluice/sinks/stdout"
	"sluice/stages/execute"
)

// TestSettingsReachWhatTheyAreFor gives each setting a value of its own.
func TestSettingsReachWhatTheyAreFor(t *testing.T) {
	warm := 0.5
	loaded := &config.Loaded{Found: true}
	c := &loaded.Config
	c.Output = config.Output{OnFull: config.OnFullDrop, PendingBytes: 1, MergeBytes: 2, QueueFrames: 3, GuaranteedBytes: 4, StallThreshold: 5 * time.Second}
	c.Input = config.Input{MaxPendingRequests: 6, MaxPendingBytes: 7}
	c.App.MaxParallelChats = 8
	c.Models = []config.Model{{Name: "m"}}
	c.Agents = []config.Agent{{Name: "a", Model: "m", SystemPrompt: "s", MaxTokens: 9, Temperature: &warm}}
	log := slog.New(slog.DiscardHandler)

	sink := sinkOptions(c, stdioOutput(io.Discard), log)
	sink.Unread = nil
	if want := (stdout.Options{Policy: stdout.Drop, PendingBytes: 1, MergeBytes: 2, QueueFrames: 3, GuaranteedBytes: 4, StallThreshold: 5 * time.Second, Logger: log}); !reflect.DeepEqual(sink, want) {
		t.Errorf("the sink gets %+v", sink)
	}
	want := execute.Options{
		Version: version, MaxParallelChats: 8, MaxPendingRequests: 6, MaxPendingBytes: 7, Logger: log,
		Agents: []execute.Agent{{Name: "a", Model: "m", SystemPrompt: "s", MaxTokens: 9, Temperature: &warm}},
	}
	if got := executeOptions(loaded, log); !reflect.DeepEqual(got, want) {
		t.Errorf("execute gets %+v", got)
	}
	c.Output.OnFull = config.OnFullCoalesce
	if !executeOptions(loaded, log).Lossless || sinkOptions(c, stdioOutput(io.Discard), log).Policy != stdout.Coalesce {
		t.Error("coalesce isn't told")
	}
}
