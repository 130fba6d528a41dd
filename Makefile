# SPDX-License-Identifier: BSD-3-Clause
# The few words a person types; the build itself is Meson's.
BUILD ?= build
MESON_OPTIONS ?=

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD)

$(BUILD)/build.ninja: | packages
	@meson setup $(BUILD) $(MESON_OPTIONS)

# installs what is missing when root, otherwise prints the line to run
packages:
	@scripts/packages

demo: all
	@scripts/demo $(BUILD)

check: packages
	@scripts/check

# everything that takes long; by hand, before an issue is closed
check-long: packages
	@scripts/check-long

# the papers' tables and figures again, into docs/results; resumable
results: all
	@bench/papers/run $(BUILD)

results-%: all
	@bench/papers/run $(BUILD) $*

install: all
	@meson install -C $(BUILD)

clean:
	@rm -rf $(BUILD) build-asan build-long-* build-fuzz demo-out

.PHONY: all packages demo check check-long results install clean
