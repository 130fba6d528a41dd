/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of readers that are fuzzed.
 */
#ifndef NW_TESTS_FUZZ_TARGETS_H
#define NW_TESTS_FUZZ_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nw_fuzz_target {
    const char *name;
    void (*run)(const char *what); /* gets a path, or the words themselves if
                                      `words` */
    bool words;
};

extern const struct nw_fuzz_target nw_fuzz_targets[];
extern const size_t nw_fuzz_target_count;

void nw_fuzz_run(const struct nw_fuzz_target *target, const uint8_t *data,
                 size_t size);

#endif
