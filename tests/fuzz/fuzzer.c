/* SPDX-License-Identifier: BSD-3-Clause */
/* libFuzzer's door; which reader is said by the build (NW_FUZZ_TARGET). */
#include "tests/fuzz/targets.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < nw_fuzz_target_count; i++)
        if (!strcmp(nw_fuzz_targets[i].name, NW_FUZZ_TARGET)) {
            nw_fuzz_run(&nw_fuzz_targets[i], data, size);
            return 0;
        }
    abort();
}
