/* SPDX-License-Identifier: BSD-3-Clause */
/* Two sections of the same processes, each on a thread of its own: between few
 * clusters one alone has not enough to do for two. */
#include "map/multilevel/recursive_bisection.h"
#include "base/crew.h"

static nw_status run(void *user)
{
    return nw_section(user);
}

static bool is_done(const struct nw_section *section)
{
    return !section->only_shaped || !section->formless;
}

/* What the second one does counts only where the first does not speak against
 * it, as if it had come afterwards. */
static nw_status run_at_once(struct nw_section section[2], bool *both)
{
    struct nw_budget *budget = section[0].budget, beside = *budget;
    uint64_t begun = budget->steps;
    struct nw_crew_task task[] = {{.run = run, .user = &section[0]},
                                  {.run = run, .user = &section[1]}};
    nw_status status;

    beside.quiet = true;
    section[1].budget = &beside;
    status = nw_crew_pair(task, budget->threads);
    section[1].budget = budget;
    *both = !section[0].formless && is_done(&section[1]);
    if (!section[0].formless)
        budget->steps += beside.steps - begun;
    budget->stopped |= beside.stopped;
    budget->hurried |= beside.hurried;
    return status;
}

nw_status nw_section_pair(struct nw_section section[2], bool *both)
{
    struct nw_budget *budget = section[0].budget;
    nw_status status;

    section[1].only_shaped = true;
    *both = false;
    if (budget->threads > 1 && !budget->endless)
        return run_at_once(section, both);
    status = nw_section(&section[0]);
    if (status || section[0].formless || budget->stopped)
        return status;
    status = nw_section(&section[1]);
    *both = is_done(&section[1]);
    return status;
}
