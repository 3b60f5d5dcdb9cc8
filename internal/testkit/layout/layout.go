// Package layout checks that the source tree keeps the rules of its architecture: which folder may
// import what, what pure stages must not use, one comment a package, and no other top-level folder.
//
// Concurrency law: pure functions over a file system; nothing is kept open.
package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// module is the path under which our own packages are imported.
const module = "sluice"

// Check returns what in the tree breaks a rule, a sentence each, sorted. Test files are free: only
// what a build can contain is looked at, for every platform at once. It fails when the tree can't
// be read or a file can't be parsed.
func Check(tree fs.FS) ([]string, error) {
	packages, err := load(tree)
	if err != nil {
		return nil, err
	}
	faults, err := checkFolders(tree)
	if err != nil {
		return nil, err
	}
	for _, p := range packages {
		faults = append(faults, checkImports(p)...)
		faults = append(faults, checkComment(p)...)
		if isPure(p.folder) {
			faults = append(faults, checkPure(p)...)
		}
	}
	slices.Sort(faults)
	return slices.Compact(faults), nil
}

// pack is one package: a folder's Go files without its tests, in order of their names.
type pack struct {
	folder string
	files  []file
}

type file struct {
	name   string
	syntax *ast.File
}

// skipped are folders that hold no code of the tree: what git and the build put there, and test data.
var skipped = []string{".git", "bin", "testdata", "node_modules"}

func load(tree fs.FS) (packages []pack, err error) {
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains(skipped, entry.Name()):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		syntax, err := parse(tree, name)
		if err != nil {
			return err
		}
		packages = add(packages, path.Dir(name), file{name, syntax})
		return nil
	})
	return packages, err
}

func parse(tree fs.FS, name string) (*ast.File, error) {
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil, err
	}
	return parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
}

// add adds a file to its folder's package, which a walk may have left for a folder below it.
func add(packages []pack, folder string, f file) []pack {
	for i := range packages {
		if packages[i].folder == folder {
			packages[i].files = append(packages[i].files, f)
			return packages
		}
	}
	return append(packages, pack{folder, []file{f}})
}

// checkComment wants the comment of a package in exactly one of its files.
func checkComment(p pack) []string {
	var with []string
	for _, f := range p.files {
		if f.syntax.Doc != nil {
			with = append(with, path.Base(f.name))
		}
	}
	switch len(with) {
	case 0:
		return []string{p.folder + " has no package comment"}
	case 1:
		return nil
	}
	return []string{p.folder + " has several package comments: " + strings.Join(with, ", ")}
}

// folders are the top-level folders; .git and bin are not part of the tree.
var folders = []string{
	"cmd", "stages", "pipeline", "sources", "sinks", "bench", "internal", "docs", "examples", ".ci", ".git", "bin",
}

func checkFolders(tree fs.FS) (faults []string, err error) {
	entries, err := fs.ReadDir(tree, ".")
	for _, entry := range entries {
		if entry.IsDir() && !slices.Contains(folders, entry.Name()) {
			faults = append(faults, entry.Name()+" is no top-level folder of this project")
		}
	}
	return faults, err
}
