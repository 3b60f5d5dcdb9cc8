package tools

import (
	"fmt"

	"github.com/tidwall/gjson"
)

// What fits the SDK's types of the results of tools/list and tools/call (MCP 2025-11-25, schema.ts).
var (
	iconFits = fits{"src": isText, "mimeType": isText, "sizes": listOf(isText), "theme": isText}

	listFits = fits{"_meta": isObject, "nextCursor": isText, "resultType": isText, "ttlMs": isWhole, "cacheScope": isText}
	toolFits = fits{
		"_meta": isObject, "name": isText, "title": isText, "description": isText, "icons": listOf(objectOf(iconFits)),
		"annotations": objectOf(fits{
			"title": isText, "readOnlyHint": isBool, "destructiveHint": isBool, "idempotentHint": isBool, "openWorldHint": isBool,
		}),
	}

	callFits = fits{"_meta": isObject, "resultType": isText, "requestState": isText, "inputRequests": isObject}
	// itemFits is one for all types: the decoder has one type for them. Content within content is for
	// what a model says, not for results.
	itemFits = fits{
		"type": isText, "text": isText, "mimeType": isText, "data": isBase64, "uri": isText, "name": isText, "title": isText,
		"description": isText, "size": isWhole, "_meta": isObject, "icons": listOf(objectOf(iconFits)),
		"annotations": objectOf(fits{"audience": listOf(isText), "lastModified": isText, "priority": isNumber}),
		"resource":    objectOf(fits{"uri": isText, "mimeType": isText, "text": isText, "blob": isBase64, "_meta": isObject}),
		"id":          isText, "input": isObject, "toolUseId": isText, "content": never, "isError": isBool,
	}
	// essentials are the types of items, each with the member without which it says nothing.
	essentials = map[string]string{"text": "text", "image": "data", "audio": "data", "resource": "resource", "resource_link": "uri"}
)

// mend returns the mending of a method's result, which is valid JSON. It reports false when the result
// can't be mended, because it isn't one of the method at all.
func mend(method string, result []byte) (*mending, bool) {
	m := &mending{text: string(result)}
	top := gjson.Parse(m.text)
	if !top.IsObject() {
		return m, false
	}
	fine := true
	switch method {
	case "tools/list":
		fine = m.list(top)
	case "tools/call":
		m.call(top)
	}
	return m, fine
}

func (m *mending) list(top gjson.Result) (fine bool) {
	fine = true
	top.ForEach(func(name, value gjson.Result) bool {
		switch {
		case !listFits.allow(name.Str, value):
			m.replace(value, "null")
			m.changed++
		case name.Str == "tools" && value.IsArray():
			value.ForEach(func(_, tool gjson.Result) bool { m.tool(tool); return true })
		case name.Str == "tools" && value.Type != gjson.Null:
			fine = false
		}
		return fine
	})
	return fine
}

func (m *mending) tool(tool gjson.Result) {
	if tool.IsObject() && lastText(tool, "name") != "" {
		m.members(tool, toolFits)
		return
	}
	m.dropped++
	if tool.Type != gjson.Null {
		m.replace(tool, "null")
	}
}

// lastText returns a member that is a text: the last of the name, as the decoder does.
func lastText(object gjson.Result, name string) (text string) {
	object.ForEach(func(key, value gjson.Result) bool {
		if key.Str == name {
			text = value.Str
		}
		return true
	})
	return text
}

func (m *mending) call(top gjson.Result) {
	top.ForEach(func(name, value gjson.Result) bool {
		switch {
		case !callFits.allow(name.Str, value):
			m.replace(value, "null")
			m.changed++
		case name.Str == "content":
			m.content(value)
		case name.Str == "isError" && !value.IsBool() && value.Type != gjson.Null:
			m.replace(value, fmt.Sprint(value.Bool() || value.IsObject() || value.IsArray()))
			m.changed++
		}
		return true
	})
}

// content makes a list of what is none.
func (m *mending) content(value gjson.Result) {
	switch {
	case value.Type == gjson.Null:
	case value.IsArray():
		value.ForEach(func(_, item gjson.Result) bool { m.item(item); return true })
	default:
		from, to := value.Index, value.Index+len(value.Raw)
		m.edits = append(m.edits, edit{from, from, "["})
		m.item(value)
		m.edits = append(m.edits, edit{to, to, "]"})
		m.changed++
	}
}

// item mends an item of the content, or puts a text in its place that says what it was.
func (m *mending) item(item gjson.Result) {
	if item.Type == gjson.String {
		m.changed++
		m.replace(item, textItem(item.Raw))
		return
	}
	kind := lastText(item, "type")
	essential, known := essentials[kind]
	if !known || !m.itemMembers(item, kind, essential) {
		m.dropped++
		m.replace(item, textItem(compact(itemNote(kind))))
	}
}

// itemMembers mends the members of an item. It reports false, and mends nothing, when the essential one
// can't be used.
func (m *mending) itemMembers(item gjson.Result, kind, essential string) (usable bool) {
	edits, changed := len(m.edits), m.changed
	usable = true
	item.ForEach(func(name, value gjson.Result) bool {
		switch {
		case itemFits.allow(name.Str, value):
			return true
		case name.Str != essential:
			m.replace(value, "null")
		case kind == "text": // shown as the JSON that it is
			m.replace(value, compact(value.Raw))
		default:
			usable = false
		}
		m.changed++
		return usable
	})
	if !usable {
		m.edits, m.changed = m.edits[:edits], changed
	}
	return usable
}

// textItem is an item of a text that is given as JSON.
func textItem(text string) string { return `{"type":"text","text":` + text + `}` }

// maxKind is how much of a type's name is shown in bytes.
const maxKind = 100

func itemNote(kind string) string {
	if kind == "" {
		return "[an item without a type that can't be shown]"
	}
	return fmt.Sprintf("[an item of type %q that can't be shown]", cut(kind, maxKind))
}
