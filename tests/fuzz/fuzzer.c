/* SPDX-License-Identifier: BSD-3-Clause */
/* The entry points of libFuzzer. NW_FUZZ_TARGET in the environment names the
 * reader. */
#include "tests/fuzz/targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct nw_fuzz_target *chosen;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *name = getenv("NW_FUZZ_TARGET");

    (void)argc;
    (void)argv;
    for (size_t i = 0; name && i < nw_fuzz_target_count; i++)
        if (!strcmp(nw_fuzz_targets[i].name, name))
            chosen = &nw_fuzz_targets[i];
    if (chosen)
        return 0;
    fprintf(stderr, "NW_FUZZ_TARGET=%s: unknown reader\n", name ? name : "");
    exit(2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    nw_fuzz_run(chosen, data, size);
    return 0;
}
