/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the driver's functions, its error messages, and the capture mode
 * under which the library's calls do not disturb the program's stream captures.
 */
#include "gpu/cuda.h"

#include "base/status.h"

enum { OUT_OF_MEMORY = 2, CAPTURE_RELAXED = 2 };

struct nw_cuda nw_cuda;

nw_status nw_cuda_check(int code, const char *what)
{
    const char *text = NULL;

    if (!code)
        return NW_OK;
    if (nw_cuda.error_text(code, &text) || !text)
        text = "unknown error";
    return nw_fail(code == OUT_OF_MEMORY ? NW_ENOMEM : NW_ECUDA,
                   "the CUDA driver fails to %s: %s (error %d)", what, text,
                   code);
}

int nw_cuda_relax(void)
{
    int mode = CAPTURE_RELAXED;

    return nw_cuda.capture_mode(&mode) ? CAPTURE_RELAXED : mode;
}

void nw_cuda_unrelax(int mode)
{
    (void)nw_cuda.capture_mode(&mode);
}
