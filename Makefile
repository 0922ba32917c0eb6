# Thin wrappers: each target sets up what it needs (packages, configure, build) and calls a CMake preset.
#   PRESET=release|debug|asan|tsan|ci   OPTIONS="-DDTYPE_GUARD_TORCH=off ..."   TESTS=REGEX   PREFIX=DIR   DESTDIR=DIR
PRESET ?= release
PREFIX ?= /usr/local
OPTIONS ?=
TESTS ?=
export CTEST_PARALLEL_LEVEL ?= $(shell nproc)
BUILD := $(if $(filter release,$(PRESET)),build,build-$(PRESET))

# "off" leaves out the PyTorch that the tests of rules/ compare with (how much is downloaded, once: rules/operators/README.md).
TORCH_VENV ?= on
# "off" leaves out the releases of PyTorch that test-long runs (7 downloads of 500 to 900 MB, 12 GB of disk, once).
TORCH_WHEELS ?= on

.PHONY: help packages configure build demo test test-long wheel wheel-tools old-glibc deb pre-commit release-check test-asan test-tsan torch-venv torch-wheels bench-kernels bench-lint bench-rules bench-san \
        bench-cupti bench-torch install clean
.DEFAULT_GOAL := help

help:
	@echo 'make demo     lint the examples, run them under the sanitizer, reports in build/demo/'
	@echo 'make test     run all tests (PRESET=release|debug|asan|ci, TESTS=REGEX for some of them); sets up a PyTorch to'
	@echo '              compare with where a package index can be reached (TORCH_VENV=off leaves it out)'
	@echo 'make test-long  the tests labelled slow, which take many minutes each (TESTS=REGEX for some of them);'
	@echo '              sets up seven releases of PyTorch, 12 GB (TORCH_WHEELS=off leaves them out)'
	@echo 'make test-asan, make test-tsan  tests of the kernels with AddressSanitizer and UBSan (and the engine on arbitrary'
	@echo '              IR), with ThreadSanitizer'
	@echo 'make bench-rules  time to load all rules and to write 25,000 findings in every format'
	@echo 'make bench-lint  speed of dtype-lint beside the compiler, clang-tidy and the parser of CPython'
	@echo 'make build    configure and build (OPTIONS="-DDTYPE_GUARD_CUDA=off ..." are passed to CMake)'
	@echo 'make bench-kernels  speed of flash_ref beside what the machine can do (ARGS="--threads 1 prefill")'
	@echo 'make bench-cupti  what a kernel launch costs with its CUPTI source, beside an empty callback'
	@echo 'make bench-torch  what its PyTorch source costs a training step, beside an empty callback'
	@echo 'make bench-san  what dtype-san costs a call, beside an empty preload and an LD_AUDIT tracer'
	@echo 'make install  build and install to PREFIX (default /usr/local); DESTDIR is honoured'
	@echo 'make deb      build and pack a Debian package for each part into $(BUILD)/deb/'
	@echo 'make wheel    build and pack both commands for pip into $(BUILD)/wheel/, for glibc 2.34 and (without Clang) 2.17'
	@echo 'make pre-commit  write the repository of the hooks for pre-commit into $(BUILD)/pre-commit/'
	@echo 'make release-check  compare the version in the tag, changelog, wheels, packages and pages (TAG=v1.2.3)'
	@echo 'make clean    remove the build directories'

packages:
	@cmake/packages/install.sh

configure: packages
	cmake --preset $(PRESET) $(OPTIONS)

build: configure
	cmake --build --preset $(PRESET)

# Only what the demo shows: tests are more than half of the build.
demo: configure
	cmake --build --preset $(PRESET) --target demo_programs
	@python3 examples/demo.py --build $(BUILD)

# Never fails: without it the tests that ask that PyTorch, or pytest-lsp, skip and say why.
torch-venv: packages
	@$(if $(filter-out off,$(TORCH_VENV)),tests/unit/rules/pytorch/torch_venv.sh $(BUILD))
	@$(if $(filter-out off,$(TORCH_VENV)),tests/unit/rules/pytorch/torch_jobs.sh $(BUILD))
	@$(if $(filter-out off,$(TORCH_VENV)),tests/lsp/pytest_lsp_venv.sh $(BUILD))

test: build torch-venv old-glibc
	ctest --preset $(PRESET) $(if $(TESTS),-R '$(TESTS)')

torch-wheels: packages
	@$(if $(filter off,$(TORCH_VENV) $(TORCH_WHEELS)),,tests/unit/rules/pytorch/torch_wheels.sh $(BUILD))

test-long: build torch-venv torch-wheels old-glibc
	ctest --test-dir $(BUILD) -L '^slow$$' --output-on-failure --no-tests=error $(if $(TESTS),-R '$(TESTS)')

# Only what the kernels' tests need is built. torch and aarch64 load or build something else than this library; what
# isa_objects looks for in the objects, names outside of their namespace, the sanitizers put there.
test-asan test-tsan: test-%: packages
	cmake --preset $* $(OPTIONS)
	cmake --build --preset $* --target test_kernels test_accuracy $(if $(filter asan,$*),fuzz_ir)
	ctest --preset $* -R '^(kernels|accuracy)/$(TESTS)$(if $(filter asan,$*),|^fuzz: arbitrary IR$$)' -E '^(accuracy/(torch|aarch64)|kernels/isa_objects)'

bench-rules: configure
	cmake --build --preset $(PRESET) --target bench-rules

bench-lint: build
	cmake --build --preset $(PRESET) --target bench-lint

bench-kernels: configure
	cmake --build --preset $(PRESET) --target bench_kernels
	$(BUILD)/tests/bench/kernels/bench_kernels $(ARGS)

bench-cupti: configure
	cmake --build --preset $(PRESET) --target bench-cupti

bench-san: configure
	cmake --build --preset $(PRESET) --target bench-san

bench-torch: configure torch-venv
	cmake --build --preset $(PRESET) --target bench-torch

wheel: old-glibc
	@$(BUILD)/.wheel-tools/bin/python cmake/wheel/make_wheel.py --build $(BUILD) --out $(BUILD)/wheel

deb: build
	cpack -G DEB --config $(BUILD)/CPackConfig.cmake -B $(BUILD)/deb
	@ls $(BUILD)/deb/*.deb

# The hooks for pre-commit in a repository of their own, with the tag of this version.
pre-commit:
	@python3 cmake/release/pre_commit.py $(BUILD)/pre-commit

# TAG=v1.2.3 for a tag that is not there yet.
release-check: wheel deb pre-commit
	@python3 cmake/release/check.py --build $(BUILD) --wheels $(BUILD)/wheel --packages $(BUILD)/deb --pre-commit $(BUILD)/pre-commit $(if $(TAG),--tag $(TAG))

# Never fails: without them the wheel's test skips, and make wheel says that they are missing.
wheel-tools: packages
	@cmake/wheel/tools.sh $(BUILD)

# The programs of the second wheel, where there is what links them.
old-glibc: build wheel-tools
	@if $(BUILD)/.wheel-tools/bin/python -c 'import ziglang' 2>/dev/null; then cmake --build --preset $(PRESET) --target old_glibc; \
	 else echo 'no ziglang in $(BUILD)/.wheel-tools: no second wheel, for an older glibc' >&2; fi

install: build
	cmake --install $(BUILD) --prefix '$(PREFIX)'

clean:
	rm -rf build build-debug build-asan build-tsan build-ci
