package fakellama

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
)

func (s *Server) props(w http.ResponseWriter) {
	size := ""
	if s.options.ContextSize > 0 {
		size = fmt.Sprintf(`"default_generation_settings":{"n_ctx":%d},`, s.options.ContextSize)
	}
	reply(w, http.StatusOK, `{`+size+`"total_slots":4,"model_path":"fake.gguf","chat_template":"{{ messages }}"}`)
}

// room is how many tokens a prompt may have; 0 is any number.
func (s *Server) room(script script) int {
	if script.overflow > 0 {
		return script.overflow
	}
	return s.options.ContextSize
}

func overflow(prompt, room int) string {
	return fmt.Sprintf(`{"error":{"code":400,"message":"request (%d tokens) exceeds the available context size (%d tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":%d,"n_ctx":%d}}`,
		prompt, room, prompt, room)
}

func applyTemplate(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	prompt, _ := json.Marshal(map[string]string{"prompt": promptOf(body)})
	reply(w, http.StatusOK, string(prompt))
}

// tokenize makes each byte a token.
func tokenize(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	content := gjson.GetBytes(body, "content").String()
	tokens := make([]int, len(content))
	for i := range tokens {
		tokens[i] = int(content[i])
	}
	list, _ := json.Marshal(map[string][]int{"tokens": tokens})
	reply(w, http.StatusOK, string(list))
}

// dimensions is the length of a vector.
const dimensions = 32

func (s *Server) embeddings(w http.ResponseWriter, r *http.Request) {
	if !s.options.Embeddings {
		reply(w, http.StatusNotImplemented, failure("This server does not support embeddings. Start it with `--embeddings`", "not_supported_error", 501))
		return
	}
	body, _ := io.ReadAll(r.Body)
	type vector struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	list := []vector{}
	for i, text := range gjson.GetBytes(body, "input").Array() {
		list = append(list, vector{i, Embedding(text.String())})
	}
	answer, _ := json.Marshal(map[string]any{"object": "list", "data": list})
	reply(w, http.StatusOK, string(answer))
}

// Embedding is the vector of a text, of length 1: texts with words in common are near each other.
func Embedding(text string) []float32 {
	vector := make([]float32, dimensions)
	vector[0] = 0.01 // also of a text without words
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		hash := fnv.New32a()
		_, _ = hash.Write([]byte(word))
		vector[hash.Sum32()%dimensions]++
	}
	sum := 0.0
	for _, v := range vector {
		sum += float64(v * v)
	}
	for i := range vector {
		vector[i] /= float32(math.Sqrt(sum))
	}
	return vector
}
