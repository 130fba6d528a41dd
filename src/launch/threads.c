/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets the variables of OpenMP so that a rank has one thread on each of its
 * cores, or on each of its hardware threads if the mapping numbers these. Sets
 * none unless all ranks have the same number of cores, at least 2. Variables
 * that the user has set keep their values. */
#include "launch/job.h"
#include "topology/topology.h"

#include <stdio.h>
#include <stdlib.h>

struct thread_variable {
    const char *name;
    char value[24];
};

/* Fills in `out` and returns the number of variables: 0 if the ranks have
 * different numbers of cores, or only one core each; else 1 if ranks are not
 * bound, else 3. Without binding, OMP_PROC_BIND is left out, because it would
 * bind the threads of all ranks to the same first cores of the node. */
static int thread_variables(const struct nw_launch_job *job,
                            struct thread_variable *out)
{
    const nw_mapping *mapping = job->mapping;
    size_t count = mapping->rank_count ? nw_mapping_cores(mapping, 0).count : 0;

    for (int32_t r = 1; r < mapping->rank_count; r++)
        if (nw_mapping_cores(mapping, r).count != count)
            return 0;
    if (count < 2)
        return 0;
    out[0] = (struct thread_variable){.name = "OMP_NUM_THREADS"};
    snprintf(out[0].value, sizeof out[0].value, "%zu", count);
    if (job->options->place_only)
        return 1;
    out[1] = job->topology->elements == NW_ELEMENTS_CORE
                 ? (struct thread_variable){"OMP_PLACES", "cores"}
                 : (struct thread_variable){"OMP_PLACES", "threads"};
    out[2] = (struct thread_variable){"OMP_PROC_BIND", "close"};
    return 3;
}

nw_status nw_launch_add_thread_words(struct nw_launch_job *job,
                                     const char *option)
{
    struct thread_variable variables[3];
    int count = thread_variables(job, variables);
    nw_status status = NW_OK;

    job->sets_threads = true;
    for (int i = 0; !status && i < count; i++) {
        if (getenv(variables[i].name))
            continue;
        if (option)
            status = nw_launch_word(job, "%s", option);
        if (!status)
            status = nw_launch_word(job, "%s=%s", variables[i].name,
                                    variables[i].value);
    }
    return status;
}

void nw_launch_add_thread_exports(struct nw_launch_job *job,
                                  struct nw_text *text)
{
    struct thread_variable variables[3];
    int count = thread_variables(job, variables);

    job->sets_threads = true;
    for (int i = 0; i < count; i++)
        nw_text_format(text, "export %s=\"${%s-%s}\"\n", variables[i].name,
                       variables[i].name, variables[i].value);
}

nw_status nw_launch_add_thread_variables(struct nw_launch_job *job)
{
    struct thread_variable variables[3];
    int count = thread_variables(job, variables);
    nw_status status = NW_OK;

    for (int i = 0; !status && !job->sets_threads && i < count; i++)
        if (!getenv(variables[i].name))
            status = nw_launch_variable(job, "%s=%s", variables[i].name,
                                        variables[i].value);
    return status;
}
