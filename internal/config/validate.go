package config

import (
	"fmt"
	"math"
	"net"
	"slices"
	"strings"
	"time"
)

// check is one rule: the reason is told when ok is false.
type check struct {
	path   string
	ok     bool
	reason string
}

// validate returns the first broken rule as an error that names the file's line or the variable.
func (l *loading) validate() error {
	c := &l.loaded.Config
	rules := slices.Concat(c.LlamaServer.checks(), c.modelChecks(), c.agentChecks(), c.mcpChecks(),
		c.App.checks(), c.memoryChecks(), c.Input.checks(), c.Output.checks(), c.Log.checks(), c.Debug.checks())
	for _, rule := range rules {
		if !rule.ok {
			return l.fault(rule)
		}
	}
	return nil
}

func (l *loading) fault(rule check) error {
	listPath, _, _ := strings.Cut(rule.path, "[") // llama_server.args[1] comes from one variable
	if variable := variableOf(listPath); slices.Contains(l.set, variable) {
		return &Error{Key: variable, Reason: rule.reason}
	}
	if l.loaded.Path == "" {
		return &Error{Key: rule.path, Reason: rule.reason}
	}
	return &Error{File: l.source.shown, Line: lineAt(l.lines, rule.path), Key: rule.path, Reason: rule.reason}
}

func atLeast[T int | int64 | time.Duration](path string, value, least T) check {
	reason := "must not be negative"
	if least > 0 {
		reason = fmt.Sprintf("must be at least %d", least)
	}
	return check{path, value >= least, reason}
}

func positive(path string, value time.Duration) check {
	return check{path, value > 0, "must be longer than 0s"}
}

func oneOf(path, value string, allowed ...string) check {
	last := len(allowed) - 1
	return check{path, slices.Contains(allowed, value),
		"must be " + strings.Join(allowed[:last], ", ") + " or " + allowed[last]}
}

func noNUL(path, value string) check {
	return check{path, !strings.Contains(value, "\x00"), "must not hold a NUL character"}
}

func (c *Config) modelChecks() []check {
	var checks []check
	names := map[string]bool{}
	for i, model := range c.Models {
		at := fmt.Sprintf("models[%d]", i)
		checks = append(checks,
			check{at + ".name", model.Name != "", "must not be empty"},
			check{at + ".name", !names[model.Name], "is the name of an earlier model"},
			check{at + ".path", model.Path != "" || c.LlamaServer.URL != "", "must name a GGUF file (or set llama_server.url)"},
			noNUL(at+".path", model.Path),
			atLeast(at+".ctx_size", model.CtxSize, 0),
			atLeast(at+".parallel", model.Parallel, 0))
		names[model.Name] = true
	}
	return checks
}

func (c *Config) agentChecks() []check {
	var checks []check
	names := map[string]bool{}
	for i, agent := range c.Agents {
		at := fmt.Sprintf("agents[%d]", i)
		known := slices.ContainsFunc(c.Models, func(m Model) bool { return m.Name == agent.Model })
		checks = append(checks,
			check{at + ".name", agent.Name != "", "must not be empty"},
			check{at + ".name", !names[agent.Name], "is the name of an earlier agent"},
			check{at + ".model", known || agent.Model == "", "must be the name of one of the models"},
			atLeast(at+".max_steps", agent.MaxSteps, 1),
			atLeast(at+".max_tokens", agent.MaxTokens, 0),
			check{at + ".temperature", validTemperature(agent.Temperature), "must be a number of at least 0"})
		checks = append(checks, globChecks(at+".tools", agent.Tools)...)
		names[agent.Name] = true
	}
	return checks
}

func validTemperature(t *float64) bool {
	return t == nil || *t >= 0 && !math.IsInf(*t, 0)
}

func globChecks(path string, globs []string) []check {
	var checks []check
	for i, glob := range globs {
		checks = append(checks, check{fmt.Sprintf("%s[%d]", path, i), glob != "", "must not be empty"})
	}
	return checks
}

func (a App) checks() []check {
	return []check{
		noNUL("app.data_dir", a.DataDir),
		atLeast("app.max_parse_errors", a.MaxParseErrors, 0),
		atLeast("app.max_parallel_chats", a.MaxParallelChats, 1),
		positive("app.approval_timeout", a.ApprovalTimeout),
		atLeast("app.tool_result_bytes", a.ToolResultBytes, 1),
	}
}

func (c *Config) memoryChecks() []check {
	model := c.Memory.EmbeddingModel
	known := slices.ContainsFunc(c.Models, func(m Model) bool { return m.Name == model })
	return []check{
		atLeast("memory.top_k", c.Memory.TopK, 1),
		{"memory.embedding_model", model == "" || known || c.LlamaServer.URL != "", "must be the name of one of the models"},
	}
}

func (i Input) checks() []check {
	return []check{
		atLeast("input.max_line_bytes", i.MaxLineBytes, 1),
		atLeast("input.max_pending_requests", i.MaxPendingRequests, 1),
		atLeast("input.max_pending_bytes", i.MaxPendingBytes, 1),
	}
}

func (o Output) checks() []check {
	return []check{
		oneOf("output.on_full", o.OnFull, OnFullCoalesce, OnFullDrop),
		atLeast("output.pending_bytes", o.PendingBytes, 1),
		atLeast("output.merge_bytes", o.MergeBytes, 1),
		atLeast("output.queue_frames", o.QueueFrames, 1),
		atLeast("output.guaranteed_bytes", o.GuaranteedBytes, 1),
		positive("output.eof_timeout", o.EOFTimeout),
		positive("output.stall_threshold", o.StallThreshold),
	}
}

func (l Log) checks() []check {
	return []check{
		oneOf("log.level", l.Level, "debug", "info", "warn", "error"),
		oneOf("log.format", l.Format, "text", "json"),
	}
}

func (d Debug) checks() []check {
	host, _, err := net.SplitHostPort(d.Addr)
	ip := net.ParseIP(host)
	local := host == "localhost" || ip != nil && ip.IsLoopback()
	return []check{
		{"debug.addr", d.Addr == "" || err == nil, "must be host:port"},
		{"debug.addr", d.Addr == "" || local || d.Token != "", "can be reached from other machines: set debug.token too, or use 127.0.0.1"},
		{"debug.token", !strings.ContainsFunc(d.Token, func(r rune) bool { return r <= ' ' || r >= 0x7f }),
			"must be ASCII without spaces and line ends, as a header takes it"},
	}
}
