// Package agent runs agent turns: steps of model, tools, model until there is a final answer.
//
// Concurrency law: a turn belongs to the goroutine that calls Run; the tool calls of one step run in
// goroutines of their own, which Run starts and waits for. Events are sent by the turn's goroutine
// alone.
package agent
