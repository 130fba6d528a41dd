/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the value of NODEWISE_COLLECTIVES once before the ranks start, so that
 * not every rank warns about it. */
#include <nodewise/profile.h>

#include "base/status.h"
#include "runtime/profile/choice.h"

#include <string.h>

nw_status nw_profile_check_models(const char *models)
{
    const char *bad;

    nw_choice_set(models, &bad);
    if (!bad && *models)
        return NW_OK;
    bad = bad ? bad : models;
    return nw_fail(NW_EINVAL,
                   "unknown model of a collective call '%.*s'; "
                   "nodewise-profile(1) lists models such as allreduce:ring",
                   (int)strcspn(bad, ","), bad);
}
