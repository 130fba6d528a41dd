/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lets the helper program nodewise-reader load an XML file first: hwloc trusts
 * the file, and version 2.9 follows null pointers if attributes are missing.
 * This process then loads the XML that the helper's hwloc wrote.
 */
#include "topology/hwloc/trial.h"

#include "base/array.h"
#include "base/spawn.h"
#include "base/status.h"
#include "topology/hwloc/calls.h"
#include "topology/hwloc/parts.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum { MOST_SECONDS = 30, MOST_WORDS = 160 };

static const char reached[] = "nodewise: reached";

int nw_hwloc_trial(const char *data, size_t length)
{
    hwloc_topology_t machine;
    char *written;
    int bytes;

    if (nw_hwloc_load() || hwloc_topology_init(&machine) ||
        hwloc_topology_set_io_types_filter(machine,
                                           HWLOC_TYPE_FILTER_KEEP_IMPORTANT) ||
        hwloc_topology_set_xmlbuffer(machine, data, (int)length + 1) ||
        hwloc_topology_load(machine))
        return 1;
    hwloc_topology_check(machine); /* this function asserts, so it may abort */
    if (hwloc_topology_export_xmlbuffer(machine, &written, &bytes, 0))
        return 1;
    return puts(reached) < 0 || puts(written) < 0 || fflush(stdout);
}

/* Returns true for messages of hwloc that do not explain an error. */
static bool is_remark(const char *words)
{
    return !strncmp(words, "ignoring", 8) || !strncmp(words, "Loading", 7) ||
           strstr(words, "discovery failed");
}

static bool is_hwlocs(const char *line)
{
    return !strncmp(line, "hwloc: ", 7) || !strncmp(line, "xmlbuffer: ", 11);
}

/* Returns the XML that follows the line `reached` in the helper's answer. If
 * that line is missing, returns NULL and sets `why` to the last message of
 * hwloc that explains an error, without hwloc's prefix. */
static const char *find_written(char *answer, char why[MOST_WORDS])
{
    char *rest = NULL;

    *why = '\0';
    for (char *line = strtok_r(answer, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest)) {
        const char *words = strstr(line, ": ");

        if (!strcmp(line, reached))
            return rest;
        if (words && is_hwlocs(line) && !is_remark(words + 2))
            snprintf(why, MOST_WORDS, "%s", words + 2);
    }
    return NULL;
}

static nw_status trial_refuse(const char *file, const char *why, int how)
{
    int signal = how > 0 && WIFSIGNALED(how) ? WTERMSIG(how) : 0;

    if (how == NW_SPAWN_TIMED_OUT)
        why = "hwloc did not finish reading it within 30 s";
    else if (signal == SIGABRT)
        why = "its parts contradict each other";
    else if (signal)
        why = "hwloc crashed while reading it (it lacks attributes that hwloc "
              "expects)";
    return nw_fail(NW_EFORMAT,
                   "%s:1: hwloc can make no machine of this XML%s%s", file,
                   *why ? ": " : "", why);
}

nw_status nw_hwloc_try_xml(const char *file, const char *data, size_t length,
                           char **written)
{
    static const char *const arguments[] = {"hwloc", NULL};
    const struct nw_spawn spawn = {.program = "nodewise-reader",
                                   .arguments = arguments,
                                   .input = data,
                                   .length = length,
                                   .seconds = MOST_SECONDS};
    struct nw_text answer = {0};
    char why[MOST_WORDS] = "";
    const char *found;
    int how = 0;
    nw_status status = nw_spawn_run(&spawn, &answer, &how);

    found = !status && answer.data ? find_written(answer.data, why) : NULL;
    if (!status)
        status =
            found ? nw_strdup(found, written) : trial_refuse(file, why, how);
    nw_text_fini(&answer);
    return status;
}
