/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/exec_show.h"

#include "base/cpus.h"
#include "base/file.h"
#include "base/json.h"
#include "base/status.h"
#include "cli/command.h"

#include <linux/mempolicy.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* MPOL_PREFERRED_MANY, which headers before Linux 5.15 lack. */
enum { PREFERRED_MANY = 5 };

enum { MOST_NODES = 1024, NODE_WORDS = MOST_NODES / NW_CPU_WORD };

/* The variables of nodewise exec that --show prints. Further variables that it
 * sets follow from the same GPUs and NIC. */
static const char *const variables[] = {"CUDA_VISIBLE_DEVICES",
                                        "ROCR_VISIBLE_DEVICES",
                                        "ZE_AFFINITY_MASK", "UCX_NET_DEVICES"};

/* The resources that this process may use, as bit sets. */
struct held {
    unsigned long cpus[NW_CPU_WORDS], nodes[NODE_WORDS];
    const char *memory; /* name of the memory policy for `nodes`, a static
                           string: bind, prefer or any */
    char host[256];
};

/* Asks the kernel for the name of the host, and for the CPUs and the memory
 * policy of this process. */
static nw_status exec_show_look(struct held *held)
{
    int mode = MPOL_DEFAULT;

    memset(held, 0, sizeof *held);
    gethostname(held->host, sizeof held->host - 1);
    if (!nw_cpus_read(0, held->cpus))
        return nw_fail(NW_EUNSUPPORTED,
                       "the kernel does not give the CPUs of this process");
    if (syscall(SYS_get_mempolicy, &mode, held->nodes, MOST_NODES + 1, NULL, 0))
        mode = MPOL_DEFAULT;
    mode &= ~MPOL_MODE_FLAGS;
    held->memory = mode == MPOL_BIND                                  ? "bind"
                   : mode == MPOL_PREFERRED || mode == PREFERRED_MANY ? "prefer"
                                                                      : "any";
    return NW_OK;
}

static void put_text(struct nw_text *text, const struct held *held,
                     int32_t rank)
{
    nw_text_format(text, "rank %d on %s: CPUs ", rank, held->host);
    nw_cpus_list(held->cpus, NW_CPU_WORDS, SIZE_MAX, text);
    if (strcmp(held->memory, "any")) {
        nw_text_format(text, ", memory %s ", held->memory);
        nw_cpus_list(held->nodes, NODE_WORDS, SIZE_MAX, text);
    }
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]))
            nw_text_format(text, ", %s=%s", variables[i], getenv(variables[i]));
    nw_text_add(text, "\n");
}

static void put_set(struct nw_json *json, const char *key,
                    const unsigned long *set, int words)
{
    nw_json_flat_array(json, key);
    for (int i = 0; i < words * NW_CPU_WORD; i++)
        if (nw_cpus_has(set, words, i))
            nw_json_integer(json, NULL, i);
    nw_json_end_array(json);
}

static void exec_show_put_json(struct nw_text *text, const struct held *held,
                               int32_t rank)
{
    struct nw_json json = {.text = text};

    nw_json_flat_object(&json, NULL);
    nw_json_string(&json, "schema", "nodewise.exec/1");
    nw_json_integer(&json, "rank", rank);
    nw_json_string(&json, "host", held->host);
    put_set(&json, "cpus", held->cpus, NW_CPU_WORDS);
    nw_json_string(&json, "memory", held->memory);
    put_set(&json, "memory_nodes", held->nodes, NODE_WORDS);
    nw_json_flat_object(&json, "environment");
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]))
            nw_json_string(&json, variables[i], getenv(variables[i]));
    nw_json_end_object(&json);
    nw_json_end_object(&json);
}

int nw_exec_show(int32_t rank, bool as_json)
{
    struct nw_text text = {0};
    struct held held;
    nw_status status = exec_show_look(&held);

    if (status)
        return nw_cli_fail("exec", status);
    (as_json ? exec_show_put_json : put_text)(&text, &held, rank);
    status = nw_file_write_text("-", &text);
    return status ? nw_cli_fail_output("exec", status) : NW_EXIT_DONE;
}
