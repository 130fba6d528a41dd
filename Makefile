# SPDX-License-Identifier: BSD-3-Clause
# The few words a person types; the build itself is Meson's.
BUILD ?= build
MESON_OPTIONS ?=

all: $(BUILD)/build.ninja
	@$(if $(MESON_OPTIONS),meson configure $(BUILD) $(MESON_OPTIONS))
	@ninja -C $(BUILD)

$(BUILD)/build.ninja: | packages
	@meson setup $(BUILD) -Dtests=disabled $(MESON_OPTIONS)

# what `make` needs; `demo` and `check` ask for more. As root this installs what
# is missing, otherwise it prints the line to run
packages:
	@scripts/packages make $(BUILD)

demo:
	@scripts/packages demo $(BUILD)
	@$(MAKE) all
	@scripts/demo $(BUILD)

check:
	@scripts/packages check build
	@scripts/check

# everything that takes long; by hand, before an issue is closed
check-long:
	@scripts/packages check build
	@scripts/check-long

# the papers' tables and figures again, into docs/results; resumable
results: all
	@bench/papers/run $(BUILD)

results-%: all
	@bench/papers/run $(BUILD) $*

# the documentation as a site in $(BUILD)/docs
docs: all
	@scripts/docs $(BUILD)

install: all
	@meson install -C $(BUILD)

# the tarball of the committed sources, in build/meson-dist
dist: $(BUILD)/build.ninja
	@meson dist -C $(BUILD) --no-tests --formats xztar

clean:
	@rm -rf $(BUILD) build-asan build-long-* build-fuzz demo-out

.PHONY: all packages demo check check-long results docs install dist clean
