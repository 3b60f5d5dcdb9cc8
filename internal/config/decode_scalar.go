package config

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/goccy/go-yaml/ast"
)

func (d *decoder) scalar(path string, node ast.Node, target reflect.Value) error {
	switch target.Kind() {
	case reflect.String:
		text, ok := stringOf(node)
		if !ok {
			return d.fail(path, errString)
		}
		target.SetString(text)
	case reflect.Bool:
		value, ok := node.(*ast.BoolNode)
		if !ok {
			return d.fail(path, errBool)
		}
		target.SetBool(value.Value)
	case reflect.Int:
		n, err := integerOf(node)
		if err != nil {
			return d.fail(path, err)
		}
		target.SetInt(n)
	case reflect.Pointer: // *float64
		value, ok := floatOf(node)
		if !ok {
			return d.fail(path, errFraction)
		}
		target.Set(reflect.ValueOf(&value))
	default:
		return d.fail(path, errors.New("has no decoder"))
	}
	return nil
}

// special decodes the types whose YAML form is more than one kind of scalar.
func (d *decoder) special(path string, node ast.Node, target reflect.Value) error {
	var value any
	var err error
	text, _ := stringOf(node)
	if n, whole := node.(*ast.IntegerNode); whole {
		text = fmt.Sprint(n.Value)
	}
	switch target.Interface().(type) {
	case time.Duration:
		value, err = ParseDuration(text)
	case int64:
		value, err = ParseSize(text)
	case GPULayers:
		value, err = parseGPULayers(text)
	default:
		return d.approval(path, node, target)
	}
	if err != nil {
		return d.fail(path, err)
	}
	target.Set(reflect.ValueOf(value))
	return nil
}

func (d *decoder) approval(path string, node ast.Node, target reflect.Value) error {
	switch n := node.(type) {
	case *ast.BoolNode:
		target.Set(reflect.ValueOf(Approval{All: n.Value}))
		return nil
	case *ast.SequenceNode:
		var globs []string
		if err := d.sequence(path, n, reflect.ValueOf(&globs).Elem()); err != nil {
			return err
		}
		target.Set(reflect.ValueOf(Approval{Globs: globs}))
		return nil
	}
	return d.fail(path, errApproval)
}

func parseGPULayers(text string) (GPULayers, error) {
	if GPULayers(text) == GPULayersAuto {
		return GPULayersAuto, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		return "", errGPULayers
	}
	return GPULayers(strconv.FormatInt(n, 10)), nil
}

func stringOf(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	}
	return "", false
}

// integerOf returns a count; int32 holds every sensible one on every platform.
func integerOf(node ast.Node) (int64, error) {
	value, ok := node.(*ast.IntegerNode)
	if !ok {
		return 0, errCount
	}
	switch n := value.Value.(type) {
	case int64:
		if n >= math.MinInt32 && n <= math.MaxInt32 {
			return n, nil
		}
	case uint64:
		if n <= math.MaxInt32 {
			return int64(n), nil
		}
	}
	return 0, errTooLarge
}

func floatOf(node ast.Node) (float64, bool) {
	switch n := node.(type) {
	case *ast.FloatNode:
		return n.Value, true
	case *ast.IntegerNode:
		value, err := strconv.ParseFloat(fmt.Sprint(n.Value), 64)
		return value, err == nil
	}
	return 0, false
}

// nameOf returns the name of an anchor or alias.
func nameOf(node ast.Node) string {
	if node == nil || node.GetToken() == nil {
		return ""
	}
	return node.GetToken().Value
}
