# make run    runs Lintel with a demo house
# make test   checks everything
# make bench  measures it

GO ?= go

.PHONY: help run build release test test-tools fuzz bench clean

help: ## Show this help
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

run: ## Run Lintel with a demo house and simulated controllers
	@trap 'stopped=1' INT; $(GO) run ./cmd/lintel demo || [ -n "$$stopped" ]

build: ## Build bin/lintel
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w -X main.version=$$(git describe --always --dirty 2>/dev/null || echo dev)" -o bin/lintel ./cmd/lintel

release: ## Build dist/ for amd64, arm64, armv7 and armv6, and print the sizes; FOR=armv6 builds one
	@./scripts/release $(FOR)

test: test-tools ## Check formatting, vet, lint and run all tests
	@./scripts/test

test-tools:
	@./scripts/test-tools

fuzz: ## Fuzz each parser for a while
	@./scripts/fuzz

bench: ## Measure, each figure beside its floor and its budget
	@$(GO) run ./bench

clean: ## Remove what was built
	rm -rf bin dist
