// Package validate checks the types of a method's params and turns them into Go values, one file per
// protocol. Unknown params are ignored; a wrongly typed one is the request's Fault.
//
// Concurrency law: plain functions; no goroutine, channel, lock, clock or I/O. The values hold no
// bytes of the line.
package validate

import (
	"math"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/wire"
)

// fields reads the params of one request and keeps the first fault.
type fields struct {
	params gjson.Result
	// code is that of the protocol for a wrong param.
	code  wire.Code
	fault *wire.Fault
}

func (f *fields) wrong(name, want string) {
	if f.fault == nil {
		f.fault = wire.NewFault(f.code, "params."+name+" must be "+want)
	}
}

// text reads an optional string.
func (f *fields) text(name string) string {
	v := f.params.Get(name)
	if v.Exists() && v.Type != gjson.String {
		f.wrong(name, "a string")
		return ""
	}
	return strings.Clone(v.Str)
}

// need refuses a request without the param.
func (f *fields) need(name, want string) {
	if !f.params.Get(name).Exists() {
		f.wrong(name, want)
	}
}

// oneOf reads a string that must be given and be one of the words.
func (f *fields) oneOf(name string, words ...string) string {
	v := f.params.Get(name)
	if v.Type == gjson.String {
		if i := slices.Index(words, v.Str); i >= 0 {
			return words[i]
		}
	}
	f.wrong(name, "one of "+strings.Join(words, ", "))
	return ""
}

// maybeOneOf reads an optional string that is one of the words.
func (f *fields) maybeOneOf(name string, words ...string) string {
	if !f.params.Get(name).Exists() {
		return ""
	}
	return f.oneOf(name, words...)
}

// flag reads an optional boolean.
func (f *fields) flag(name string) bool {
	v := f.params.Get(name)
	if v.Exists() && !v.IsBool() {
		f.wrong(name, "true or false")
	}
	return v.Type == gjson.True
}

// integers reads an optional list of whole numbers; nil stands for an absent one.
func (f *fields) integers(name string) []int64 {
	var list []int64
	if f.params.Get(name).Exists() {
		list = []int64{}
	}
	f.each(name, "a list of whole numbers", func(v gjson.Result) bool {
		list = append(list, int64(v.Num))
		return v.Type == gjson.Number && v.Num == math.Trunc(v.Num) && math.Abs(v.Num) < 1<<53
	})
	return list
}

// texts reads an optional list of strings.
func (f *fields) texts(name string) []string {
	var list []string
	f.each(name, "a list of strings", func(v gjson.Result) bool {
		list = append(list, strings.Clone(v.Str))
		return v.Type == gjson.String
	})
	return list
}

func (f *fields) each(name, want string, take func(gjson.Result) bool) {
	v := f.params.Get(name)
	if !v.Exists() {
		return
	}
	if !v.IsArray() {
		f.wrong(name, want)
		return
	}
	v.ForEach(func(_, item gjson.Result) bool {
		if !take(item) {
			f.wrong(name, want)
		}
		return f.fault == nil
	})
}

// object reads an optional object.
func (f *fields) object(name string) {
	if v := f.params.Get(name); v.Exists() && !v.IsObject() {
		f.wrong(name, "an object")
	}
}

// id reads an optional correlation id.
func (f *fields) id(name string) wire.ID {
	v := f.params.Get(name)
	if !v.Exists() {
		return ""
	}
	if v.Type != gjson.String && v.Type != gjson.Number {
		f.wrong(name, "a string or a number")
		return ""
	}
	return wire.ID(strings.Clone(v.Raw))
}

// given reads a string that must be there.
func (f *fields) given(name string) string {
	f.need(name, "a string")
	return f.text(name)
}

// filled reads a string that must be there and not be empty.
func (f *fields) filled(name string) string {
	text := f.given(name)
	if text == "" {
		f.wrong(name, "a string that is not empty")
	}
	return text
}

// wanted reads a whole number that must be there.
func (f *fields) wanted(name string) int64 {
	v := f.params.Get(name)
	if v.Type != gjson.Number || v.Num != math.Trunc(v.Num) || math.Abs(v.Num) >= 1<<53 {
		f.wrong(name, "a whole number")
		return 0
	}
	return int64(v.Num)
}

// count reads an optional whole number from 1; 0 stands for an absent one.
func (f *fields) count(name string) int {
	if !f.params.Get(name).Exists() {
		return 0
	}
	n := f.wanted(name)
	if n < 1 || n > math.MaxInt32 {
		f.wrong(name, "a whole number from 1")
		return 0
	}
	return int(n)
}

// maybeFlag reads an optional boolean; nil stands for an absent one.
func (f *fields) maybeFlag(name string) *bool {
	if !f.params.Get(name).Exists() {
		return nil
	}
	flag := f.flag(name)
	return &flag
}

// maybeTexts reads an optional list of strings; nil stands for an absent one.
func (f *fields) maybeTexts(name string) []string {
	list := f.texts(name)
	if list == nil && f.params.Get(name).Exists() {
		list = []string{}
	}
	return list
}

// stream returns a stream's id as the JSON text that it has as an id of ours, however the host wrote it.
func (f *fields) stream(id string) wire.ID {
	return wire.ID(wire.AppendString(nil, id, false))
}
