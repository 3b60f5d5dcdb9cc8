package tools

import (
	"fmt"
	"strings"
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
	top := valueOf(m.text)
	if !isObject(top) {
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

func (m *mending) list(top value) (fine bool) {
	fine = true
	top.each(func(name string, member value) bool {
		switch {
		case !listFits.allow(name, member):
			m.replace(member, "null")
			m.changed++
		case name == "tools" && isList(member):
			member.each(func(_ string, tool value) bool { m.tool(tool); return true })
		case name == "tools" && !member.isNull():
			fine = false
		}
		return fine
	})
	return fine
}

func (m *mending) tool(tool value) {
	if isObject(tool) && lastText(tool, "name") != "" {
		m.members(tool, toolFits)
		return
	}
	m.dropped++
	if !tool.isNull() {
		m.replace(tool, "null")
	}
}

// lastText returns a member that is a text: the last of the name, as the decoder does.
func lastText(object value, name string) (text string) {
	object.each(func(key string, member value) bool {
		if key == name {
			text = member.text()
		}
		return true
	})
	return text
}

func (m *mending) call(top value) {
	top.each(func(name string, member value) bool {
		switch {
		case !callFits.allow(name, member):
			m.replace(member, "null")
			m.changed++
		case name == "content":
			m.content(member)
		case name == "isError" && !isBool(member) && !member.isNull():
			m.replace(member, fmt.Sprint(meansYes(member)))
			m.changed++
		}
		return true
	})
}

// meansYes reads what should be a boolean.
func meansYes(v value) bool {
	text := strings.Trim(v.raw, `"`)
	return text != "" && text != "0" && !strings.EqualFold(text, "false")
}

// content makes a list of what is none.
func (m *mending) content(content value) {
	switch {
	case content.isNull():
	case isList(content):
		content.each(func(_ string, item value) bool { m.item(item); return true })
	default:
		from, to := content.at, content.at+len(content.raw)
		m.edits = append(m.edits, edit{from, from, "["})
		m.item(content)
		m.edits = append(m.edits, edit{to, to, "]"})
		m.changed++
	}
}

// item mends an item of the content, or puts a text in its place that says what it was.
func (m *mending) item(item value) {
	if isText(item) {
		m.changed++
		m.replace(item, textItem(item.raw))
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
func (m *mending) itemMembers(item value, kind, essential string) (usable bool) {
	edits, changed := len(m.edits), m.changed
	usable = true
	item.each(func(name string, member value) bool {
		switch {
		case itemFits.allow(name, member):
			return true
		case name != essential:
			m.replace(member, "null")
		case kind == "text": // shown as the JSON that it is
			m.replace(member, compact(member.raw))
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
