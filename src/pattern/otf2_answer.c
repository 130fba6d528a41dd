/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs in the helper program nodewise-reader: reads a trace and prints the
 * pattern or the error. */
#include "pattern/otf2_helper.h"

#include <stdio.h>

int nw_otf2_helper_answer(const char *path)
{
    nw_pattern *pattern = NULL;
    struct nw_text text = {0};
    nw_status status = nw_otf2_read(path, &pattern);
    bool failed;

    if (status)
        nw_text_add(&text, nw_error_text());
    else
        nw_native_render(pattern, &text);
    nw_pattern_free(pattern);
    failed = text.failed || putchar((int)status) == EOF ||
             fwrite(text.data, 1, text.length, stdout) != text.length ||
             fflush(stdout);
    nw_text_fini(&text);
    return failed;
}
