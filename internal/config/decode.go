package config

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// maxAliases bounds a chain of aliases, which could be a circle.
const maxAliases = 16

// decoder walks a YAML tree along the structure of Config. The library's own decoder isn't used: it
// converts silently between types, and its errors know neither the path of a key nor what to hide.
type decoder struct {
	file    string
	lines   map[string]int      // path of a key → its line, for the checks that follow
	anchors map[string]ast.Node // name → value, filled in reading order
}

func (d *decoder) fail(path string, reason error) error {
	return &Error{File: d.file, Line: lineAt(d.lines, path), Key: path, Reason: reason.Error()}
}

// lineAt returns the line of path or of the nearest key around it.
func lineAt(lines map[string]int, path string) int {
	for ; path != ""; path = parent(path) {
		if line := lines[path]; line > 0 {
			return line
		}
	}
	return lines[""]
}

// decode stores node at target, a settable value. A null leaves the default in place.
func (d *decoder) decode(path string, node ast.Node, target reflect.Value) error {
	node, err := d.resolve(path, node)
	if err != nil || node.Type() == ast.NullType {
		return err
	}
	switch target.Interface().(type) {
	case time.Duration, int64, Approval, GPULayers:
		return d.special(path, node, target)
	}
	switch target.Kind() {
	case reflect.Struct:
		return d.structure(path, node, target)
	case reflect.Map:
		return d.mapping(path, node, target)
	case reflect.Slice:
		return d.sequence(path, node, target)
	default:
		return d.scalar(path, node, target)
	}
}

// resolve follows anchors and aliases to the value itself.
func (d *decoder) resolve(path string, node ast.Node) (ast.Node, error) {
	for range maxAliases {
		switch n := node.(type) {
		case nil:
			return ast.Null(nil), nil
		case *ast.AnchorNode:
			d.anchors[nameOf(n.Name)] = n.Value
			node = n.Value
		case *ast.AliasNode:
			value, found := d.anchors[nameOf(n.Value)]
			if !found {
				return nil, d.fail(path, errors.New("an alias (*) without its anchor (&)"))
			}
			node = value
		case *ast.TagNode:
			return nil, d.fail(path, errors.New("tags (!) are not supported"))
		default:
			return node, nil
		}
	}
	return nil, d.fail(path, errors.New("an alias that leads to itself"))
}

// entries calls visit for each key of a mapping, refusing what no mapping here may hold.
func (d *decoder) entries(path string, node ast.Node, visit func(key, path string, value ast.Node) error) error {
	var pairs []*ast.MappingValueNode
	switch n := node.(type) {
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	default:
		d.lines[path] = lineOf(node) // often the line after: "key:value" without the space
		return d.fail(path, errors.New("must be a mapping (key: value)"))
	}
	seen := map[string]bool{}
	for _, pair := range pairs {
		key, err := d.key(path, pair.Key)
		if err != nil {
			return err
		}
		at := join(path, key)
		d.lines[at] = lineOf(pair.Key)
		if seen[key] {
			return d.fail(at, errors.New("is given twice"))
		}
		seen[key] = true
		if err := visit(key, at, pair.Value); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) key(path string, node ast.MapKeyNode) (string, error) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, nil
	case *ast.MappingKeyNode: // "? key"
		if text, ok := n.Value.(*ast.StringNode); ok {
			return text.Value, nil
		}
	case *ast.MergeKeyNode:
		return "", &Error{File: d.file, Line: lineOf(node), Key: path, Reason: "merge keys (<<) are not supported"}
	}
	return "", &Error{File: d.file, Line: lineOf(node), Key: path, Reason: "a key must be a string (put it in quotes)"}
}

func (d *decoder) structure(path string, node ast.Node, target reflect.Value) error {
	fields := map[string]reflect.Value{}
	for i := range target.NumField() {
		fields[target.Type().Field(i).Tag.Get("yaml")] = target.Field(i)
	}
	return d.entries(path, node, func(key, at string, value ast.Node) error {
		field, known := fields[key]
		if !known {
			return d.fail(at, errors.New("unknown key"))
		}
		return d.decode(at, value, field)
	})
}

func (d *decoder) mapping(path string, node ast.Node, target reflect.Value) error {
	result := reflect.MakeMap(target.Type())
	err := d.entries(path, node, func(key, at string, value ast.Node) error {
		element := newElement(target.Type().Elem())
		if err := d.decode(at, value, element); err != nil {
			return err
		}
		result.SetMapIndex(reflect.ValueOf(key), element)
		return nil
	})
	target.Set(result)
	return err
}

func (d *decoder) sequence(path string, node ast.Node, target reflect.Value) error {
	list, ok := node.(*ast.SequenceNode)
	if !ok {
		return d.fail(path, errors.New("must be a list"))
	}
	result := reflect.MakeSlice(target.Type(), 0, len(list.Values))
	for i, value := range list.Values {
		at := fmt.Sprintf("%s[%d]", path, i)
		if value != nil {
			d.lines[at] = lineOf(value)
		}
		if value == nil || value.Type() == ast.NullType {
			return d.fail(at, errors.New("is empty"))
		}
		element := newElement(target.Type().Elem())
		if err := d.decode(at, value, element); err != nil {
			return err
		}
		result = reflect.Append(result, element)
	}
	target.Set(result)
	return nil
}

// newElement returns a settable element of a list or map, with its defaults.
func newElement(of reflect.Type) reflect.Value {
	element := reflect.New(of)
	if d, ok := element.Interface().(defaulter); ok {
		d.setDefaults()
	}
	return element.Elem()
}
