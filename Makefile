# perfwatch: build, set up, check, test, install. `make help` lists the targets.

SWIFT  ?= swift
PREFIX ?= /usr/local
# STATIC=1 links everything into one file that runs on any Linux of the architecture.
STATIC ?= 1
# What `make bench` passes on: rounds of the interleaved run, and a part of it.
ROUNDS ?= 3
ONLY   ?=

BINARY  := .build/release/perfwatch
# The manifest asks git for the commit; kept, its answer would be that of an older one.
RELEASE := $(SWIFT) build -c release --product perfwatch --manifest-cache none
ifeq ($(STATIC),1)
RELEASE += -Xswiftc -static-executable
endif
# A short run is mostly page faults: what it executes lies side by side (see Scripts/link-order.py).
# The list is of x86-64, the option of gold, Swift's linker there.
ifeq ($(shell uname -m),x86_64)
RELEASE += -Xswiftc -Xfrontend -Xswiftc -function-sections \
  -Xlinker --section-ordering-file=$(CURDIR)/Scripts/link-order.txt
endif
SAMPLE  := .build/demo/catalogue
SOURCES := Sources Tests Package.swift Benchmarks
# Debug builds are always strict (a warning is an error) and release builds never are, so that
# the two do not undo each other's work.
STRICT  := PERFWATCH_STRICT=1
TESTS    = $(STRICT) PERFWATCH="$(CURDIR)/$(BINARY)" $(SWIFT) test --disable-xctest

.DEFAULT_GOAL := build
.NOTPARALLEL:
.PHONY: build help setup setup-bench demo test check lint scripts compile format golden \
	integration bench captures install uninstall clean targets order

build:  ## the release build: .build/release/perfwatch (STATIC=0 links dynamically)
	@$(RELEASE) || { \
	  [ "$(STATIC)" = 1 ] && echo "make: the fully static link failed;" \
	    "for a build with shared libraries run: make STATIC=0" >&2; exit 1; }

help:  ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1|\2/p' Makefile | \
	  while IFS='|' read -r name text; do printf '  make %-12s %s\n' "$$name" "$$text"; done

setup:  ## installs the Debian packages that are missing; quick when none is
	@Scripts/setup.sh build test

setup-bench:  ## the same for what `make bench` compares with
	@Scripts/setup.sh build bench

demo: setup build $(SAMPLE)  ## watches the sample program for its six seconds
	$(BINARY) run -- $(SAMPLE)

$(SAMPLE): Examples/sample/catalogue.c
	@mkdir -p $(@D)
	gcc -O2 -g -Wall -Wextra -pthread $< -o $@

# Apart, as the unit tests keep both cores busy and the others hold times against each other.
test: setup targets build  ## unit, golden and integration tests
	$(TESTS) --filter ProbeCoreTests
	$(TESTS) --skip-build --filter IntegrationTests

targets:
	@if [ -f Tests/Targets/Makefile ]; then $(MAKE) --no-print-directory -C Tests/Targets; fi

check: setup lint scripts compile  ## format, layers, unsafe, imports, lengths, links, warnings

lint:
	$(SWIFT) format lint --strict --parallel --recursive $(SOURCES)

scripts:
	@Scripts/check-all.sh

compile:
	$(STRICT) $(SWIFT) build --build-tests

format:  ## lays the sources out as `make check` wants them
	$(SWIFT) format format --in-place --parallel --recursive $(SOURCES)

golden: setup targets build  ## golden tests; UPDATE_GOLDEN=1 rewrites them (read the diff)
	$(TESTS) --filter Golden

integration: setup targets build  ## only the tests that run real programs
	$(TESTS) --filter IntegrationTests

bench: setup-bench build captures  ## one interleaved run against limits and peers (ROUNDS=3 ONLY=poll)
	@$(MAKE) --no-print-directory -C Benchmarks
	$(RELEASE:perfwatch=symbols-probe)
	python3 Benchmarks/bench.py --rounds $(ROUNDS) $(if $(ONLY),--only $(ONLY))

# Drives captures without what is around them in the product.
captures:
	@$(RELEASE:perfwatch=CaptureBench)

order: build  ## what a short run executes, for the linker: Scripts/link-order.txt
	python3 Scripts/link-order.py $(BINARY)

# Builds only when there is nothing to install, so that `sudo make install` needs no compiler.
install: | $(BINARY)  ## to PREFIX (default /usr/local), under DESTDIR if given
	install -D -m 755 $(BINARY) "$(DESTDIR)$(PREFIX)/bin/perfwatch"
	install -D -m 644 LICENSE "$(DESTDIR)$(PREFIX)/share/doc/perfwatch/LICENSE"

$(BINARY):
	@$(MAKE) --no-print-directory build

uninstall:  ## removes what `make install` put there
	rm -f "$(DESTDIR)$(PREFIX)/bin/perfwatch"
	rm -rf "$(DESTDIR)$(PREFIX)/share/doc/perfwatch"

clean:  ## removes everything that was built
	rm -rf .build Benchmarks/bin Benchmarks/.venv
	@if [ -f Tests/Targets/Makefile ]; then $(MAKE) --no-print-directory -C Tests/Targets clean; fi
