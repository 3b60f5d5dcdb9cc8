package layout

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
)

// pure are the stages that are plain functions, so that they can be fuzzed, counted and fused.
var pure = []string{"stages/parse", "stages/validate", "stages/route", "stages/transform", "stages/encode", "stages/execute/agent/toolcall"}

// impure are the standard packages of locks, I/O and waiting.
var impure = []string{
	"bufio", "context", "crypto/rand", "io", "log", "math/rand", "net", "os", "runtime", "sync", "syscall",
}

// clock are the functions of package time that read the clock or wait. Durations are values.
var clock = []string{
	"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker",
}

func isPure(folder string) bool { return anyUnder(folder, pure) }

// checkPure finds goroutines, channels, locks, clocks and I/O in a package.
func checkPure(p pack) (faults []string) {
	for _, f := range p.files {
		fault := func(what string) { faults = append(faults, f.name+" is pure and "+what) }
		for _, spec := range f.syntax.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			if anyUnder(name, impure) {
				fault("imports " + name)
			}
			if name == "time" && spec.Name != nil {
				fault("renames package time")
			}
		}
		ast.Inspect(f.syntax, func(node ast.Node) bool {
			if what := impurity(node); what != "" {
				fault(what)
			}
			return true
		})
	}
	return faults
}

// impurity says what a node does that no pure function does, or nothing.
func impurity(node ast.Node) string {
	switch n := node.(type) {
	case *ast.GoStmt:
		return "starts a goroutine"
	case *ast.ChanType, *ast.SelectStmt, *ast.SendStmt:
		return "uses a channel"
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			return "uses a channel"
		}
	case *ast.SelectorExpr:
		if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clock, n.Sel.Name) {
			return "calls " + "time." + n.Sel.Name
		}
	}
	return ""
}
