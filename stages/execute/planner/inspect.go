package planner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	gguf "github.com/gpustack/gguf-parser-go"

	"sluice/internal/wire"
)

// Model is what a GGUF file says about its model. All but the path comes from the file, unchecked by
// anybody: it is for people and for estimates.
type Model struct {
	// Name is general.name, else the file's name without its ending.
	Name string `json:"name"`
	// Title is general.name where Name is the configuration's.
	Title        string `json:"title,omitempty"`
	Path         string `json:"path"`
	Architecture string `json:"architecture"`
	// Parameters counts the elements of all tensors.
	Parameters uint64 `json:"parameters"`
	// Quantization is general.file_type in the words of llama.cpp ("Q4_K_M"), else what most tensors are.
	Quantization string `json:"quantization"`
	// FileBytes is the size of all parts.
	FileBytes uint64 `json:"file_bytes"`
	// Parts is the number of files; 1 for one that isn't split.
	Parts int `json:"parts"`
	// TrainedContext is in tokens; 0 when the file doesn't say.
	TrainedContext int `json:"trained_context"`
	Layers         int `json:"layers"`
	// Experts is the number of experts of a mixture of experts, ExpertsUsed that of each token; 0 for a
	// dense model.
	Experts      int  `json:"experts"`
	ExpertsUsed  int  `json:"experts_used"`
	Embedding    bool `json:"embedding"`
	Projector    bool `json:"projector"`
	ChatTemplate bool `json:"chat_template"`
}

// named returns m under the name of the configuration, when there is one.
func (m Model) named(name string) Model {
	if name != "" {
		m.Title, m.Name = m.Name, name
	}
	return m
}

// File is a GGUF file that was read. It never changes and holds nothing open.
type File struct {
	Model Model
	// Warnings say what in the file is odd but no reason to refuse it; some say why there is no estimate.
	Warnings []string

	parsed    *gguf.GGUFFile
	arch      gguf.GGUFArchitecture
	weights   weights
	estimable bool // whether all is there that an estimate needs
}

// maxParts bounds a split file; the parts' names have room for 99,999.
const maxParts = 512

// Inspect reads the header of a GGUF file, and of all its parts when it is split. Only regular files are
// opened. The error is a *wire.Fault with model_missing that names the file and what is wrong with it.
func Inspect(path string) (*File, error) {
	parts, err := partsOf(path)
	if err != nil {
		return nil, err
	}
	parsed := &gguf.GGUFFile{Header: gguf.GGUFHeader{Magic: gguf.GGUFMagicGGUFLe}}
	left := int64(maxHeaderBytes)
	for i, part := range parts {
		read, err := addPart(parsed, part, i, left)
		if err != nil {
			return nil, err
		}
		left -= read
	}
	parsed.Header.TensorCount = uint64(len(parsed.TensorInfos))
	parsed.Header.MetadataKVCount = uint64(len(parsed.Header.MetadataKV))
	f := &File{parsed: parsed, Model: Model{Path: path, Parts: len(parts), FileBytes: uint64(parsed.Size)}}
	if err := f.check(); err != nil {
		return nil, missing(path, err.Error())
	}
	f.facts()
	return f, nil
}

// partsOf returns the names of all parts of a split file, else the path alone.
func partsOf(path string) ([]string, error) {
	folder, name := filepath.Split(path)
	match := gguf.ShardGGUFFilenameRegex.FindStringSubmatch(name)
	if match == nil {
		return []string{path}, nil
	}
	var number, total int
	_, _ = fmt.Sscan(strings.TrimLeft(match[2], "0")+" "+strings.TrimLeft(match[3], "0"), &number, &total) // digits only
	partName := func(i int) string {
		return filepath.Join(folder, fmt.Sprintf("%s-%05d-of-%05d.gguf", match[1], i, total))
	}
	switch {
	case total < 1 || total > maxParts || number < 1 || number > total:
		return nil, missing(path, "has a name that says it is a part of a split file, with an impossible number; rename it")
	case number != 1:
		return nil, missing(path, fmt.Sprintf("is part %d of %d; name the first part in models[].path: %q", number, total, partName(1)))
	}
	parts := []string{path}
	for i := 2; i <= total; i++ {
		part := partName(i)
		if _, err := os.Stat(part); err != nil {
			return nil, missing(path, fmt.Sprintf("is split into %d parts, of which %q is not there; download it too", total, part))
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// addPart reads one file, at most limit bytes of it, into parsed, and returns how many it read. Metadata is
// the first part's.
func addPart(parsed *gguf.GGUFFile, path string, index int, limit int64) (read int64, err error) {
	file, size, err := openRegular(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	h, err := readHeader(file, size, limit)
	if err == nil && len(parsed.TensorInfos)+len(h.tensors) > maxTensors {
		err = fmt.Errorf("has, with the parts before it, more than %d tensors; it is damaged", maxTensors)
	}
	if err == nil && index > 0 {
		if n, ok := h.number("split.no"); !ok || n != uint64(index) {
			err = errors.New("is another part than its name says, or none; download it again")
		}
	}
	if err != nil {
		return 0, missing(path, err.Error())
	}
	if index == 0 {
		parsed.Header.Version = gguf.GGUFVersion(h.version)
		parsed.Header.MetadataKV = h.entries
	}
	parsed.TensorInfos = append(parsed.TensorInfos, h.tensors...)
	parsed.Size += gguf.GGUFBytesScalar(size)
	parsed.ModelSize += gguf.GGUFBytesScalar(max(size-h.dataStart, 0))
	return h.length, nil
}

// check refuses what is no model and what can't be believed.
func (f *File) check() error {
	h := &header{entries: f.parsed.Header.MetadataKV}
	architecture := h.text("general.architecture")
	if architecture == "" {
		return errors.New("doesn't say its architecture (general.architecture); get another file of the model")
	}
	f.Model.Architecture = architecture
	return h.checkValues(architecture)
}

// Chats returns why no chat can be held with this file as the model, nil when one can: a
// *wire.Fault with model_plan_error.
func (f *File) Chats() error {
	what := ""
	switch {
	case f.Model.Projector:
		what = "is a vision projector (mmproj), not a language model; name the model's own file in models[].path and this one in llama_server.args after --mmproj"
	case f.arch.Type == "adapter":
		what = "is an adapter (LoRA or control vector), not a model; name the model's own file in models[].path"
	case f.arch.Type == "imatrix":
		what = "is an importance matrix, not a model; name the model's own file in models[].path"
	case f.arch.Architecture == "diffusion":
		what = "is a diffusion model, which makes images; llama-server can't run it"
	default:
		return nil
	}
	return wire.NewFault(wire.CodeModelPlan, fmt.Sprintf("the model file %q %s", f.Model.Path, what))
}
