package validate

import (
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

// JSONRPC validates the params of JSON-RPC v1's methods (section "Methods", and xgen-gateway). Members that
// the protocol marks with ? may be left out.
func JSONRPC(batch *wire.Requests) *wire.Requests {
	for i := range batch.Items {
		r := &batch.Items[i]
		if r.Fault == nil {
			r.Params, r.Fault = rpcParams(r)
		}
	}
	return batch
}

func rpcParams(r *wire.Request) (any, *wire.Fault) {
	f := fields{params: gjson.Parse(r.RawParams), code: wire.CodeInvalidParams}
	var value any
	if read := readers[r.Name]; read != nil {
		value = read(&f)
	}
	return value, f.fault
}

// readers read the params of the methods that have any.
var readers = map[string]func(*fields) any{
	"initialize": func(f *fields) any { return &wire.HandshakeParams{Version: f.wanted("protocolVersion")} },
	"profile/set": func(f *fields) any {
		return &wire.ProfileSetParams{Name: f.given("name"), ServerURL: f.given("serverUrl")}
	},
	"profile/use":           func(f *fields) any { return &wire.ProfileParams{Profile: f.given("name")} },
	"auth/login":            login,
	"auth/status":           profileAlone,
	"auth/logout":           profileAlone,
	"agents/list":           agents,
	"history/conversations": profileAlone,
	"history/turns":         history,
	"history/snapshot":      history,
	"chat/start":            chatStart,
	"chat/cancel":           func(f *fields) any { return &wire.StreamParams{Stream: f.stream(f.given("streamId"))} },
	"chat/stop":             chatStop,
	"localTools/configure":  toolsConfigure,
	"localTools/run":        toolsRun,
	"localTools/start":      toolsStart,
}

func profileAlone(f *fields) any { return &wire.ProfileParams{Profile: f.text("profile")} }

func login(f *fields) any {
	return &wire.LoginParams{Profile: f.text("profile"), Email: f.filled("email"), Password: f.filled("password")}
}

func agents(f *fields) any {
	return &wire.AgentsParams{Profile: f.text("profile"), Query: wire.AgentQuery{
		Page: f.count("page"), PageSize: f.count("pageSize"), Search: f.text("search"),
		Status:         f.maybeOneOf("status", "active", "draft", "unactive", "active_or_draft", "archived"),
		Owner:          f.maybeOneOf("owner", "personal", "shared"),
		IncludeHarness: f.flag("includeHarness"),
	}}
}

func history(f *fields) any {
	return &wire.HistoryParams{
		Profile: f.text("profile"), WorkflowID: f.filled("workflowId"), WorkflowName: f.text("workflowName"), InteractionID: f.filled("interactionId"),
	}
}

func chatStart(f *fields) any {
	p := &wire.ChatStartParams{
		Profile: f.text("profile"), WorkflowID: f.filled("workflowId"), WorkflowName: f.text("workflowName"), InteractionID: f.text("interactionId"),
	}
	input := f.params.Get("input")
	if input.Type != gjson.String && !input.IsObject() && !input.IsArray() {
		f.wrong("input", "a string, an object or a list")
		return p
	}
	p.Input = strings.Clone(input.Raw)
	p.Text, p.IsText = textOf(input)
	return p
}

// textOf returns the text of a chat's input: a string, or content blocks of text and strings joined with
// newlines. Anything else is not text.
func textOf(input gjson.Result) (text string, all bool) {
	if input.Type == gjson.String {
		return strings.Clone(input.Str), true
	}
	if !input.IsArray() {
		return "", false
	}
	var texts []string
	all = true
	input.ForEach(func(_, block gjson.Result) bool {
		inner := block.Get("text")
		switch {
		case block.Type == gjson.String:
			texts = append(texts, block.Str)
		case block.IsObject() && block.Get("type").Str == "text" && inner.Type == gjson.String:
			texts = append(texts, inner.Str)
		default:
			all = false
		}
		return all
	})
	if !all {
		return "", false
	}
	return strings.Clone(strings.Join(texts, "\n")), true
}

func chatStop(f *fields) any {
	p := &wire.StreamParams{Profile: f.text("profile"), InteractionID: f.text("interactionId")}
	if stream := f.text("streamId"); stream != "" {
		p.Stream = f.stream(stream)
	} else if p.InteractionID == "" {
		f.wrong("streamId", "a string, unless interactionId is given")
	}
	return p
}

func toolsConfigure(f *fields) any {
	p := &wire.ToolsConfigureParams{Profile: f.text("profile")}
	p.Change = wire.LocalToolsChange{
		Enabled: f.maybeFlag("enabled"), AllowDangerous: f.maybeFlag("allowDangerous"),
		AllowedRoots: f.maybeTexts("allowedRoots"), BlockedCommands: f.maybeTexts("blockedCommands"),
	}
	if f.params.Get("cwd").Exists() {
		cwd := f.text("cwd")
		p.Change.CWD = &cwd
	}
	if f.params.Get("timeoutMs").Exists() {
		timeout := f.wanted("timeoutMs")
		p.Change.TimeoutMS = &timeout
	}
	return p
}

func toolsRun(f *fields) any {
	p := &wire.ToolsRunParams{Tool: f.filled("tool"), Args: "{}"}
	f.object("args")
	if args := f.params.Get("args"); args.IsObject() {
		p.Args = strings.Clone(args.Raw)
	}
	return p
}

func toolsStart(f *fields) any {
	p := &wire.ToolsStartParams{Profile: f.text("profile")}
	if f.params.Get("waitMs").Exists() {
		if p.WaitMS = f.wanted("waitMs"); p.WaitMS < 0 {
			f.wrong("waitMs", "a whole number from 0")
		}
	}
	return p
}
