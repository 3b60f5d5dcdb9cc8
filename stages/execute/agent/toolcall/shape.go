package toolcall

import (
	"github.com/tidwall/gjson"
)

// shape makes calls of JSON in normal form: an object that is a call, a list of such, or an object
// whose only member is such a list under tool_calls.
func shape(value []byte) (drafts []draft, fixes fix, f *fault) {
	root := gjson.ParseBytes(value)
	if root.IsObject() {
		if list, ok := onlyMember(root, "tool_calls"); ok {
			root = list
		}
	}
	if !root.IsArray() {
		d, fixes, f := call(root, false)
		return []draft{d}, fixes, f
	}
	root.ForEach(func(_, each gjson.Result) bool {
		d, more, wrong := call(each, false)
		drafts, fixes, f = append(drafts, d), fixes|more, wrong
		return f == nil
	})
	if len(drafts) == 0 {
		f = &fault{what: "the list holds no call"}
	}
	return drafts, fixes, f
}

// onlyMember returns the object's only member when it has this name.
func onlyMember(object gjson.Result, name string) (value gjson.Result, ok bool) {
	count := 0
	object.ForEach(func(key, each gjson.Result) bool {
		count++
		value, ok = each, key.String() == name
		return count < 2
	})
	return value, ok && count == 1
}

// call makes a call of an object: a name, arguments, and the members that the OpenAI API and chat
// templates put beside them. nested is the object below "function", which holds the call there.
func call(object gjson.Result, nested bool) (d draft, fixes fix, f *fault) {
	if !object.IsObject() {
		return d, 0, &fault{what: "a call is a JSON object", near: excerpt(object.Raw)}
	}
	names := 0
	object.ForEach(func(key, value gjson.Result) bool {
		switch name := key.String(); name {
		case "name", "tool_name", "function", "function_call", "tool":
			names++
			if value.IsObject() && !nested && (name == "function" || name == "function_call") {
				var inner draft
				inner, fixes, f = call(value, true)
				d.name, d.args, d.hasArgs = inner.name, inner.args, inner.hasArgs
				break
			}
			if d.name = value.String(); value.Type != gjson.String {
				f = &fault{what: "the call's name is not a text", near: excerpt(value.Raw)}
			}
		case "arguments", "parameters", "args":
			if d.hasArgs {
				f = &fault{what: "the call has arguments twice"}
				break
			}
			d.hasArgs = true
			if d.args, fixes, f = argumentsOf(value); f == nil && name == "parameters" && isSchema(d.args) {
				f = &fault{what: "the call has the tool's schema in place of arguments"}
			}
		case "id", "call_id", "tool_call_id", "type", "index":
			d.id = idOf(name, value, d.id)
		default:
			f = &fault{what: "the call has a member " + excerpt(name) + " beside name and arguments"}
		}
		return f == nil
	})
	switch {
	case f != nil:
	case names == 0:
		f = &fault{what: "the call has no name"}
	case names > 1:
		f = &fault{what: "the call has more than one name"}
	case !d.hasArgs:
		d.args, fixes = "{}", fixes|fixEmpty
	}
	return d, fixes, f
}

func idOf(name string, value gjson.Result, id string) string {
	if name == "type" || name == "index" || value.Type != gjson.String {
		return id
	}
	return value.String()
}

// isSchema reports whether an object looks like the description of parameters: a model that repeats
// what tools there are calls none.
func isSchema(args string) bool {
	fields := gjson.GetMany(args, "type", "properties")
	return fields[0].String() == "object" && fields[1].IsObject()
}

// argumentsOf makes the arguments of a value in normal form: an object, one inside a string, or null.
func argumentsOf(value gjson.Result) (args string, fixes fix, f *fault) {
	switch {
	case value.IsObject():
		return value.Raw, 0, nil
	case value.Type == gjson.String:
		args, fixes, f = readArguments(value.String(), false)
		return args, fixes | fixEncoded, f
	case value.Type == gjson.Null:
		return "{}", fixEmpty, nil
	}
	return "", 0, &fault{what: "the arguments are not a JSON object", near: excerpt(value.Raw)}
}
