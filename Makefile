# Everything a person or a machine does with this checkout; make help lists it.
.DEFAULT_GOAL := help
.PHONY: help build run test race fuzz bench bench-net bench-vt vt-diff lint gen check clean tools

VERSION   := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
BIN       := bin/vev
COUNT     ?= 1
FUZZTIME  ?= 30s
DURATION  ?= 1m
PACKAGES  ?= ./...

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' Makefile

# The kernel keeps what the linker writes in small pieces, and what one write brings in a large one, which may be mapped at once:
# such a copy starts an eighth faster. Of larger pieces a process at rest holds more than it needs: 2 MiB each time it wakes.
COPY = dd bs=262144 2>/dev/null

build: | .cache ## build bin/vev, and bin/vev-mcp, which serves agents
	CGO_ENABLED=0 go build -trimpath -ldflags '-X main.version=$(VERSION)' -o .cache/ ./cmd/vev ./cmd/vev-mcp
	@mkdir -p $(dir $(BIN))
	$(COPY) if=.cache/vev of=$(BIN).new && chmod 755 $(BIN).new && mv -f $(BIN).new $(BIN)
	$(COPY) if=.cache/vev-mcp of=$(BIN)-mcp.new && chmod 755 $(BIN)-mcp.new && mv -f $(BIN)-mcp.new $(BIN)-mcp

run: build ## build vev and go into a new session
	@exec env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKE_TERMOUT -u MAKE_TERMERR $(BIN)

tools: ## install the programs that the tests run, where that is allowed
	@.ci/tools

test: tools ## install what the tests need and run all of them
	VEV_EXPECT_RACE=1 go run ./tools/testrun -race -timeout 8m -shuffle=on -count=1 $(PACKAGES)

race: tools ## run the tests COUNT times with the race detector
	VEV_EXPECT_RACE=1 go run ./tools/testrun -race -timeout $$((8 * $(COUNT)))m -shuffle=on -count=$(COUNT) $(PACKAGES)

# By default each input that is new is made small for up to a minute, which leaves little for others.
fuzz: | .cache ## fuzz every decoder and the engine for FUZZTIME each
	@set -e; go test -list '^Fuzz' $(PACKAGES) > .cache/fuzz.list; \
	awk '/^Fuzz/ { name[++n] = $$1 } /^ok/ { for (i = 1; i <= n; i++) print $$2, name[i]; n = 0 }' .cache/fuzz.list | \
	while read -r package name; do \
		echo "== $$package $$name"; go test -run '^$$' -fuzz "^$$name$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x "$$package" < /dev/null; \
	done

bench: build ## measure vev beside raw pty, tmux and dtach, streams beside yamux and smux, the bus beside NATS
	go run ./test/bench -vev $(BIN)
	go run ./test/bench/streams
	cd test/bench/bus && go run -mod=mod .

bench-net: build ## measure vev across shaped links beside ssh, tmux and mosh; takes root
	go run ./test/bench -net -vev $(BIN)

bench-vt: ## measure the terminal engine and the painter alone, and the engine beside another parser; must are the design's targets
	go test -run '^$$' -bench . -benchmem ./internal/domain/vt/... ./internal/domain/render/...
	cd test/bench/vt && go run -mod=mod .

vt-diff: tools ## compare the terminal engine with xterm and xterm.js for DURATION
	go run ./test/vtdiff -duration $(DURATION)

lint: ## vet, staticcheck, format, generated code, go.mod, and the same for darwin
	go vet ./...
	cd test/bench/bus && go vet -mod=mod ./...
	cd test/bench/vt && go vet -mod=mod ./...
	go tool staticcheck ./...
	@unformatted=$$(go tool gofumpt -l .); test -z "$$unformatted" || { echo "run go tool gofumpt -w on: $$unformatted"; exit 1; }
	go run ./tools/protogen -check internal/protocol/wire
	go mod tidy -diff
	GOOS=darwin go build ./...
	GOOS=darwin go vet ./...

gen: ## generate the code of the wire schema
	go run ./tools/protogen internal/protocol/wire

check: export VEV_TEST_STRICT = 1
check: lint build test ## all that continuous integration runs

.cache:
	mkdir -p .cache

clean: ## remove what was built
	rm -rf bin .cache
