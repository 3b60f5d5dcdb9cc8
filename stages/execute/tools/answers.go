package tools

import (
	"cmp"
	"errors"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/tidwall/gjson"
)

// invalidAnswer is the method whose answer is no valid one.
type invalidAnswer string

func (method invalidAnswer) Error() string {
	return "it answered something that is no valid result of " + string(method)
}

// answers decodes what a server sends. It knows what the server was asked, and mends answers that the
// SDK would refuse or not take for the answer. The zero value is ready; a request may be told while
// another goroutine decodes.
type answers struct {
	// mended is told what was wrong with an answer. Nil isn't told.
	mended func(method string, m *mending)

	mu    sync.Mutex
	asked map[jsonrpc.ID]string // the methods of the requests without an answer
}

// tell remembers a request, and forgets one that is cancelled.
func (a *answers) tell(message jsonrpc.Message) {
	request, ok := message.(*jsonrpc.Request)
	if !ok {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case request.IsCall():
		if a.asked == nil {
			a.asked = map[jsonrpc.ID]string{}
		}
		a.asked[request.ID] = request.Method
	case request.Method == "notifications/cancelled":
		delete(a.asked, idOf(gjson.GetBytes(request.Params, "requestId")))
	}
}

// take returns the method and the id of the request that an answer is for, and forgets it. Some servers
// answer with the number as a text.
func (a *answers) take(id jsonrpc.ID) (method string, own jsonrpc.ID, known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	method, known = a.asked[id]
	if text, isText := id.Raw().(string); isText && !known {
		if number, err := strconv.ParseInt(text, 10, 32); err == nil {
			id, _ = jsonrpc.MakeID(float64(number))
			method, known = a.asked[id]
		}
	}
	if known {
		delete(a.asked, id)
	}
	return method, id, known
}

// decode decodes one message.
func (a *answers) decode(text []byte) (jsonrpc.Message, error) {
	message, _, err := a.read(text)
	return message, err
}

// text returns a message as the SDK can decode it, if it can be mended: its own bytes unless it was.
func (a *answers) text(text []byte) []byte {
	message, changed, err := a.read(text)
	if err != nil || !changed {
		return text
	}
	mended, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return text
	}
	return mended
}

// read decodes one message. It reports whether that isn't what the text says.
func (a *answers) read(text []byte) (message jsonrpc.Message, changed bool, err error) {
	message, err = jsonrpc.DecodeMessage(text)
	switch m := message.(type) {
	case *jsonrpc.Response:
		if method, id, known := a.take(m.ID); known {
			changed = id != m.ID
			m.ID = id
			changed = a.check(m, method) || changed
		}
		return m, changed, err
	case *jsonrpc.Request:
		if m.Method != "" {
			return m, false, err
		}
	}
	if odd := a.odd(text); odd != nil {
		return odd, true, nil
	}
	return message, false, err
}

// check mends a response without an error, or makes it one. It reports whether it changed anything.
func (a *answers) check(m *jsonrpc.Response, method string) (changed bool) {
	if m.Error != nil {
		return false
	}
	fine := len(m.Result) > 0 && string(m.Result) != "null"
	if fine && (method == "tools/list" || method == "tools/call") {
		var made *mending
		if made, fine = mend(method, m.Result); fine && made.dropped+made.changed > 0 {
			m.Result, changed = []byte(made.done()), true
			if a.mended != nil {
				a.mended(method, made)
			}
		}
	}
	if !fine {
		m.Result, m.Error = nil, invalidAnswer(method)
	}
	return changed || !fine
}

// odd returns the answer that a text is, though it breaks JSON-RPC; nil when it is none to a request of
// ours.
func (a *answers) odd(text []byte) *jsonrpc.Response {
	if !gjson.ValidBytes(text) {
		return nil
	}
	top := gjson.ParseBytes(text)
	if !top.IsObject() || top.Get("method").Type != gjson.Null {
		return nil
	}
	method, id, known := a.take(idOf(top.Get("id")))
	if !known {
		return nil
	}
	m := &jsonrpc.Response{ID: id, Result: []byte(top.Get("result").Raw), Error: errorOf(top.Get("error"))}
	a.check(m, method)
	return m
}

func idOf(value gjson.Result) jsonrpc.ID {
	if value.Type != gjson.Number && value.Type != gjson.String {
		return jsonrpc.ID{}
	}
	id, _ := jsonrpc.MakeID(value.Value())
	return id
}

// errorOf returns an error that may be anything but null.
func errorOf(value gjson.Result) error {
	switch {
	case value.Type == gjson.Null:
		return nil
	case value.IsObject():
		return &jsonrpc.Error{Code: value.Get("code").Int(), Message: cmp.Or(value.Get("message").String(), "no reason given")}
	}
	return &jsonrpc.Error{Message: cmp.Or(value.String(), "no reason given")}
}

// isInvalid reports whether an error says that an answer was no valid one.
func isInvalid(err error) bool {
	var invalid invalidAnswer
	return errors.As(err, &invalid)
}
