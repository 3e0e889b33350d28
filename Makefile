# SPDX-License-Identifier: GPL-2.0
#
# Front of the harness in tools/tidemark. `make help` lists what there is.

BASE ?= 6.12
LINUX ?=
PRISTINE ?=
FLAVOUR ?= vm
SIGNOFF ?=
NAME ?=
ARGS ?=

# Passed on through the environment: no value can break the shell's quoting.
export BASE LINUX PRISTINE FLAVOUR SIGNOFF NAME

tidemark = @PYTHONPATH=tools python3 -m tidemark
source = --base "$$BASE" --linux "$$LINUX" --pristine "$$PRISTINE" --flavour "$$FLAVOUR"

.PHONY: help base tree kernel run test shell bench bench-list results series check-series
.PHONY: lint matrix upstream-tests check-all check-harness clean python3

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' Makefile | \
		while IFS='|' read -r target text; do printf '  %-15s %s\n' "$$target" "$$text"; done
	@echo
	@echo '  BASE=6.12       kernel to build on, one of:' $(notdir $(wildcard bases/*))
	@echo '  LINUX=path      take the base from this kernel tree, git checkout or tarball'
	@echo '  PRISTINE=1      the unpatched base (tree, kernel, run, shell; bench: against itself)'
	@echo '  FLAVOUR=debug   a kernel that looks for errors (kernel, run, test, shell); kcsan (kernel, test)'
	@echo '  SIGNOFF=1       the series in your name, signed off (series)'
	@echo '  NAME=...        one of bench-list (bench)'
	@echo '  ARGS=...        more options for run, test, shell, bench, check-series, lint and below'

base: python3 ## fetch and unpack the base; prints its path
	$(tidemark) base $(source)

tree: python3 ## base, hooks and our files in one source tree; prints its path
	$(tidemark) tree $(source)

kernel: python3 ## build the kernel; prints the path of its image
	$(tidemark) kernel $(source)

run: python3 ## boot it and show what a dirty limit does
	$(tidemark) run $(source) $(ARGS)

test: python3 ## run every KUnit suite and kselftest in the guest
	$(tidemark) test $(source) $(ARGS)

shell: python3 ## a shell in the patched guest; Ctrl-A X leaves it
	$(tidemark) shell $(source) $(ARGS)

bench: python3 ## benchmarks of base and patched kernel; NAME= runs one
	$(tidemark) bench $(source) --name "$$NAME" $(ARGS)

bench-list: python3 ## what each benchmark does, and how long it takes
	$(tidemark) bench-list $(source)

results: python3 ## put the last results of run and bench into bases/ and the README
	$(tidemark) results $(source)

series: python3 ## mails for the list, with a cover letter; prints their directory
	$(tidemark) series $(source) --signoff "$$SIGNOFF"

check-series: python3 ## build each commit of the series, boot the last
	$(tidemark) check-series $(source) $(ARGS)

lint: python3 ## checkpatch, sparse, W=1, kernel-doc, coccinelle and more
	$(tidemark) lint $(source) $(ARGS)

matrix: python3 ## compile the objects concerned in many configurations
	$(tidemark) matrix $(source) $(ARGS)

upstream-tests: python3 ## upstream's own tests of cgroups and memory, on both kernels
	$(tidemark) upstream-tests $(source) $(ARGS)

check-all: python3 ## all that CI leaves out; takes hours
	$(tidemark) check-all $(source) $(ARGS)

check-harness: python3 ## unit tests of this harness
	$(tidemark) check-harness $(source)

clean: python3 ## remove everything under build/
	$(tidemark) clean $(source)

# The harness installs what else it needs, and only this it cannot.
python3:
	@command -v python3 >/dev/null || { test "$$(id -u)" = 0 && { apt-get -qq update && \
		DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends python3; } >&2; } || \
		{ echo 'tidemark: error: python3 is missing; install it with: apt-get install python3' >&2; exit 1; }
