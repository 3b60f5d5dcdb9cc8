# Sluice. `make help` lists the targets.
SHELL := /bin/bash
.DEFAULT_GOAL := help

CACHE       := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/sluice
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
MODEL       := $(CACHE)/demo.gguf
ROUNDS      ?= 5
# A tree that git refuses (of another owner, or no clone) is built without its revision.
VCS         := $(shell git rev-parse HEAD >/dev/null 2>&1 || echo -buildvcs=false)
FUZZTIME    ?= 30s

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

.PHONY: build
build: ## build bin/sluice
	@mkdir -p bin
	CGO_ENABLED=0 go build $(VCS) -trimpath -ldflags "-s -w" -o bin/sluice ./cmd/sluice

.PHONY: run
run: build ## show the main job on the embedded demo model: the stream, then its raw lines
	@echo
	@echo '$$ sluice chat --demo "What is a pipe?"'
	@SLUICE_APP_DATA_DIR=bin/data bin/sluice chat --demo "What is a pipe?"
	@echo
	@echo '$$ echo '"'"'{"id":1,"method":"chat","params":{"input":"What is a stream?"}}'"'"' | sluice serve-stdio --demo'
	@echo '{"id":1,"method":"chat","params":{"input":"What is a stream?"}}' | SLUICE_APP_DATA_DIR=bin/data bin/sluice serve-stdio --demo

.PHONY: test
test: tools lint llama-server mcp-servers build model ## everything: formatting, vet, staticcheck, race tests, fuzz seeds, benchmarks once, end to end
	LLAMA_SERVER="$$(.ci/llama-server)" LLAMA_MODEL="$(MODEL)" MCP_SERVERS="$$(.ci/mcp-servers)" SLUICE="$(CURDIR)/bin/sluice" go test -race -shuffle=on -timeout 25m ./...
	cd bench && SLUICE="$(CURDIR)/bin/sluice" go test -race -shuffle=on -timeout 25m ./...
	go test -run '^$$' -bench . -benchtime 1x ./...
	cd bench && SLUICE="$(CURDIR)/bin/sluice" go test -run '^$$' -bench . -benchtime 1x ./...

.PHONY: tools
tools: # what `make test` needs beyond Go and git; installed when root, named when not
	@.ci/tools

.PHONY: lint
lint: ## gofmt, vet (Linux, macOS, Windows) and staticcheck
	@unformatted="$$(gofmt -l cmd stages pipeline sources sinks internal bench)"; \
	  [ -z "$$unformatted" ] || { echo "gofmt would change: $$unformatted"; exit 1; }
	go vet ./...
	GOOS=darwin go vet ./...
	GOOS=windows go vet ./...
	cd bench && go vet ./...
	go run $(STATICCHECK) ./...
	cd bench && go run $(STATICCHECK) ./...

.PHONY: llama-server
llama-server: ## build a real llama-server once, into a cache outside the tree (or use $LLAMA_SERVER)
	@.ci/llama-server

.PHONY: mcp-servers
mcp-servers: ## install the MCP servers of the end-to-end tests once, into a cache outside the tree (or use $MCP_SERVERS)
	@.ci/mcp-servers

.PHONY: model
model: build # the demo model as a real GGUF file
	@mkdir -p $(CACHE)
	@bin/sluice model $(MODEL)

.PHONY: bench
bench: build ## measure the engine beside its peers, interleaved, medians of $(ROUNDS) rounds
	cd bench && go run ./cmd/sluicebench -engine ../bin/sluice -rounds $(ROUNDS)

.PHONY: bench-peers
bench-peers: build ## measure the engine beside asyncio, Node, Benthos and others; puts the tables into README.md (half an hour)
	cd bench && CGO_ENABLED=0 go build -trimpath -o ../bin/peers/ ./cmd/peers ./peers/gochat ./peers/benthos ./peers/sinks
	bin/peers/peers -engine bin/sluice -rounds $(ROUNDS) -readme README.md

.PHONY: bench-guard
bench-guard: build ## fail when the engine is over 10 % slower than bench/baselines/guard.json (a minute or two; UPDATE=1 writes that)
	bin/sluice bench --guard bench/baselines/guard.json --guard-out bin/guard.txt --guard-record bin/guard-record.json $(if $(UPDATE),--guard-update)

.PHONY: fuzz
fuzz: ## fuzz each target for $(FUZZTIME)
	@set -e; for package in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
	  for target in $$(grep -ho '^func Fuzz[A-Za-z0-9]*' $$package/*_test.go | sed 's/func //'); do \
	    (cd $$package && go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) .); done; done

.PHONY: clean
clean: ## remove bin/
	rm -rf bin
