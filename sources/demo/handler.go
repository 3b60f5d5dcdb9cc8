package demo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"
)

// maxBodyBytes bounds a request body.
const maxBodyBytes = 64 << 20

// systemFingerprint and build stand where llama-server names its version.
const systemFingerprint = "demo"

// handler serves one model in llama-server's wire format. Paths, member names and
// error texts are those that llama.cpp's tools/server/README.md and a recorded
// llama-server (build 80fb11a) show.
type handler struct {
	model    *Model
	literals [][]byte      // each token's text as a JSON string
	interval time.Duration // between tokens; 0: unpaced
	slots    *slots
	routes   map[string]http.HandlerFunc // by "METHOD /path"
	created  int64                       // Unix seconds
}

// NewHandler returns an http.Handler that answers as a llama-server would that has
// loaded the model: /health, /props, /slots, /v1/models, /apply-template,
// /tokenize and /v1/chat/completions. Options.Logger isn't used.
func NewHandler(options Options) http.Handler {
	h := &handler{
		model:    options.Model,
		interval: tokenInterval(cmp.Or(options.TokensPerSecond, defaultTokensPerSecond)),
		slots:    newSlots(cmp.Or(max(options.Slots, 0), defaultSlots)),
		created:  time.Now().Unix(),
	}
	if h.model == nil {
		h.model = Default()
	}
	for token := range Token(h.model.Len()) {
		h.literals = append(h.literals, jsonString(h.model.Text(token)))
	}
	h.routes = map[string]http.HandlerFunc{
		"GET /health":               h.health,
		"GET /v1/health":            h.health,
		"GET /props":                h.props,
		"GET /slots":                h.listSlots,
		"GET /models":               h.models,
		"GET /v1/models":            h.models,
		"POST /apply-template":      h.applyTemplate,
		"POST /tokenize":            h.tokenize,
		"POST /chat/completions":    h.chat,
		"POST /v1/chat/completions": h.chat,
		"POST /v1/embeddings":       refuseEmbeddings,
		"POST /embeddings":          refuseEmbeddings,
		"POST /embedding":           refuseEmbeddings,
	}
	return h
}

func tokenInterval(tokensPerSecond float64) time.Duration {
	if tokensPerSecond < 0 {
		return 0
	}
	return time.Duration(float64(time.Second) / tokensPerSecond)
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	route, known := h.routes[r.Method+" "+r.URL.Path]
	if !known {
		writeError(w, &apiError{Code: http.StatusNotFound, Message: "File Not Found", Type: "not_found_error"})
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBodyBytes)
	route(w, r)
}

func (h *handler) health(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

func (h *handler) props(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"default_generation_settings": map[string]any{
			"params": map[string]any{"seed": int64(randomSeed), "temperature": defaultTemperature, "max_tokens": -1, "n_predict": -1},
			"n_ctx":  contextLength,
		},
		"total_slots":    len(h.slots.busy),
		"model_alias":    ModelName,
		"model_path":     "demo:",
		"modalities":     map[string]bool{"vision": false, "audio": false},
		"endpoint_slots": true,
		"endpoint_props": false,
		"chat_template":  chatTemplate,
		"bos_token":      h.model.vocabulary.pieces[beginToken],
		"eos_token":      h.model.vocabulary.pieces[endToken],
		"build_info":     systemFingerprint,
		"is_sleeping":    false,
	})
}

func (h *handler) listSlots(w http.ResponseWriter, _ *http.Request) {
	type slot struct {
		ID           int  `json:"id"`
		Context      int  `json:"n_ctx"`
		Speculative  bool `json:"speculative"`
		IsProcessing bool `json:"is_processing"`
	}
	list := make([]slot, len(h.slots.busy))
	for id := range list {
		list[id] = slot{ID: id, Context: contextLength, IsProcessing: h.slots.busy[id].Load()}
	}
	writeJSON(w, http.StatusOK, list)
}

func (h *handler) models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"object": "list",
		"data": []any{map[string]any{
			"id": ModelName, "object": "model", "created": h.created, "owned_by": "llamacpp",
			"meta": map[string]int{"n_vocab": h.model.Len(), "n_ctx": contextLength, "n_ctx_train": contextLength, "n_embd": h.model.width()},
		}},
	})
}

func (h *handler) tokenize(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Content      string `json:"content"`
		ParseSpecial *bool  `json:"parse_special"` // the template's tags are tags, not text; true by default
	}
	if err := decodeBody(r, &request); err != nil {
		writeError(w, err)
		return
	}
	tokenize := h.model.TokenizePrompt
	if request.ParseSpecial != nil && !*request.ParseSpecial {
		tokenize = h.model.Tokenize
	}
	tokens := tokenize(request.Content)
	writeJSON(w, http.StatusOK, map[string][]Token{"tokens": append([]Token{}, tokens...)})
}

func refuseEmbeddings(w http.ResponseWriter, _ *http.Request) {
	writeError(w, &apiError{Code: http.StatusNotImplemented, Type: "not_supported_error",
		Message: "This server does not support embeddings. Start it with `--embeddings`"})
}

// apiError is the error object of llama-server's answers.
type apiError struct {
	Code         int    `json:"code"`
	Message      string `json:"message"`
	Type         string `json:"type"`
	PromptTokens int    `json:"n_prompt_tokens,omitzero"` // with the context size: for prompts that don't fit
	Context      int    `json:"n_ctx,omitzero"`
}

func writeError(w http.ResponseWriter, err *apiError) {
	writeJSON(w, err.Code, map[string]*apiError{"error": err})
}

// decodeBody reads a JSON body. A broken one is llama-server's own fault (500), not the client's.
func decodeBody(r *http.Request, into any) *apiError {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		return &apiError{Code: http.StatusInternalServerError, Message: fmt.Sprintf("parse error: %v", err), Type: "server_error"}
	}
	return nil
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		panic(err) // every value is one of this package's own
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	w.Write(body) // a client that has gone needs no answer
}

func jsonString(text string) []byte {
	literal, err := json.Marshal(text)
	if err != nil {
		panic(err) // strings always encode
	}
	return literal
}
