# SPDX-License-Identifier: GPL-2.0
#
# Front of the harness in tools/tidemark. `make help` lists the targets.

BASE ?= 6.12
LINUX ?=
PRISTINE ?=
FLAVOUR ?=
PART ?=
SIGNOFF ?=
NAME ?=
FROM ?=
DEB_CONFIG ?=
BLKTESTS ?=
LTP ?=
SYZKALLER ?=
XFSTESTS ?=
HOURS ?= 4
ARGS ?=

# Passed on through the environment: no value can break the shell's quoting.
export BASE LINUX PRISTINE FLAVOUR PART SIGNOFF NAME FROM DEB_CONFIG BLKTESTS LTP SYZKALLER XFSTESTS
export HOURS

tidemark = @PYTHONPATH=tools python3 -m tidemark
source = --base "$$BASE" --linux "$$LINUX" --pristine "$$PRISTINE" --flavour "$$FLAVOUR"

.PHONY: help base tree kernel deb run test shell bench bench-list results series patch
.PHONY: port check-series lint matrix upstream-tests mutants outside-tests soak check-all
.PHONY: check-harness clean python3

help: ## list the targets and variables
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' Makefile | \
		while IFS='|' read -r target text; do printf '  %-15s %s\n' "$$target" "$$text"; done
	@echo
	@echo '  BASE=6.12       kernel to build on, one of:' $(notdir $(wildcard bases/*))
	@echo '  LINUX=path      use this kernel tree, git checkout or tarball as the base'
	@echo '  PRISTINE=1      the unpatched kernel (tree, kernel, run, shell; bench: against itself)'
	@echo '  FLAVOUR=lean    the small kernel of run and shell; all others use vm'
	@echo '  FLAVOUR=debug   with debug checks (kernel, run, test, shell, outside-tests, soak); kcsan (kernel, test, soak)'
	@echo '  FLAVOUR=debian  Debian with systemd and containers (kernel, test, shell); PRISTINE=1 too'
	@echo '  PART=...        one part of the series (tree, kernel, series, check-series); one of:'
	@echo '                 ' $(basename $(notdir $(wildcard patches/parts/*)))
	@echo '  SIGNOFF=1       the mails come from you, with your Signed-off-by (series)'
	@echo '  NAME=...        a benchmark that bench-list lists (bench)'
	@echo '  DEB_CONFIG=path a kernel configuration in place of Debian'"'"'s (deb)'
	@echo '  BLKTESTS=path   checkout or tarball of blktests (outside-tests)'
	@echo '  LTP=path        checkout or tarball of the Linux Test Project (outside-tests)'
	@echo '  SYZKALLER=path  checkout or tarball of syzkaller (outside-tests)'
	@echo '  XFSTESTS=path   checkout or tarball of xfstests (outside-tests)'
	@echo '  HOURS=4         how long a soak runs; 0.1 for a short one (soak; FLAVOUR=debug by default)'
	@echo '  FROM=7.3        the base whose diffs a new one starts with (port)'
	@echo '  ARGS=...        more options; ARGS=--help lists them (deb, run, test, shell, bench, check-series,'
	@echo '                  lint, matrix, upstream-tests, mutants, outside-tests, soak, check-all, clean)'

base: python3 ## fetch and unpack the kernel source; prints its path
	$(tidemark) base $(source)

tree: python3 ## prepare the patched kernel tree; prints its path
	$(tidemark) tree $(source) --part "$$PART"

kernel: python3 ## build the kernel; prints the path of its image
	$(tidemark) kernel $(source) --part "$$PART"

deb: python3 ## build Debian packages of the patched kernel; prints their directory
	$(tidemark) deb $(source) --deb-config "$$DEB_CONFIG" $(ARGS)

run: python3 ## boot the patched kernel and show the effect of a dirty limit
	$(tidemark) run $(source) $(ARGS)

test: python3 ## run all KUnit suites and kselftests in the guest
	$(tidemark) test $(source) $(ARGS)

shell: python3 ## open a shell in the patched guest; Ctrl-A X leaves it
	$(tidemark) shell $(source) $(ARGS)

bench: python3 ## benchmark the unpatched and the patched kernel; NAME= runs one
	$(tidemark) bench $(source) --name "$$NAME" $(ARGS)

bench-list: python3 ## list the benchmarks and their durations
	$(tidemark) bench $(source) --list

results: python3 ## put the last results of run and bench into bases/ and the README
	$(tidemark) results $(source)

series: python3 ## export the patch series as mails with a cover letter; prints their directory
	$(tidemark) series $(source) --part "$$PART" --signoff "$$SIGNOFF"

patch: python3 ## export the series as one flat patch; prints its path
	$(tidemark) patch $(source)

port: python3 ## report for each hunk how it applies to BASE; FROM=7.3 copies what BASE lacks first
	$(tidemark) port $(source) --from "$$FROM"

check-series: python3 ## build each commit of the series and boot the last one
	$(tidemark) check-series $(source) --part "$$PART" $(ARGS)

lint: python3 ## run checkpatch, sparse, W=1, kernel-doc, coccinelle and more
	$(tidemark) lint $(source) $(ARGS)

matrix: python3 ## compile the affected objects in many configurations
	$(tidemark) matrix $(source) $(ARGS)

upstream-tests: python3 ## run upstream's cgroup and memory tests on both kernels
	$(tidemark) upstream-tests $(source) $(ARGS)

mutants: python3 ## break one condition after the other; a test has to fail for each
	$(tidemark) mutants $(source) $(ARGS)

outside-tests: python3 ## let others' tests and power cuts judge both kernels
	$(tidemark) outside-tests $(source) $(ARGS)

soak: python3 ## run all loads at once for HOURS=4, and compare counts with pages
	$(tidemark) soak $(source) --hours "$$HOURS" $(ARGS)

check-all: python3 ## run the checks that CI leaves out; takes hours
	$(tidemark) check-all $(source) $(ARGS)

check-harness: python3 ## run the unit tests of this harness
	$(tidemark) check-harness $(source)

clean: python3 ## remove everything under build/
	$(tidemark) clean $(source) $(ARGS)

# The harness installs all other packages that it needs, but it cannot install its own interpreter.
python3:
	@command -v python3 >/dev/null || { test "$$(id -u)" = 0 && { apt-get -qq update && \
		DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends python3; } >&2; } || \
		{ echo 'tidemark: error: python3 is missing; install it with: apt-get install python3' >&2; exit 1; }
