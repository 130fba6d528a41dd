/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls the writer of a format, and reports what the format cannot express. */
#include "topology/export/export.h"
#include "base/nearest.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    /* name of the format in messages, such as "a topology.conf" */
    const char *title;
    nw_export_writer *write;
} formats[] = {
    {"hwloc", "XML of hwloc", nw_export_hwloc},
    {"k8s", "labels of Kubernetes", nw_export_kubernetes},
    {"nccl", "a topology file of NCCL", nw_export_nccl},
    {"slurm", "a topology.conf", nw_export_slurm},
    {"slurm-block", "a topology.conf of blocks", nw_export_slurm_block},
    {"slurm-yaml", "a topology.yaml", nw_export_slurm_yaml},
    {"slurm-yaml-block", "a topology.yaml of blocks",
     nw_export_slurm_yaml_block},
};

static nw_status refuse_format(const char *name)
{
    struct nw_nearest nearest;
    struct nw_text names = {0};
    nw_status status;

    nw_nearest_start(&nearest, name, strlen(name));
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        nw_nearest_try(&nearest, formats[i].name);
        nw_text_format(&names, "%s%s", i ? ", " : "", formats[i].name);
    }
    status = nw_fail(NW_EINVAL, "unknown format '%s'; %s (formats: %s)", name,
                     nw_nearest_say(&nearest, "choose one"),
                     names.data ? names.data : "");
    nw_text_fini(&names);
    return status;
}

static nw_status take_notes(struct nw_export *export, const char *title,
                            char **notes)
{
    struct nw_text line = {.failed = export->lost.failed};

    if (export->lost.length)
        nw_text_format(&line, "%s cannot express: %s\n", title,
                       export->lost.data);
    else
        nw_text_add(&line, "");
    return nw_text_take(&line, notes);
}

/* Fails if the user gave an option that the format does not use. */
static nw_status
export_check_options(const struct nw_topology_export_options *options)
{
    bool nccl = !strcmp(options->format, "nccl");

    if (options->addresses && !nccl)
        return nw_fail(NW_EINVAL,
                       "only the format nccl takes addresses, not %s",
                       options->format);
    if (options->host && !nccl && strcmp(options->format, "hwloc"))
        return nw_fail(NW_EINVAL,
                       "the format %s describes all hosts, not only '%s'",
                       options->format, options->host);
    return NW_OK;
}

nw_status nw_topology_export(const nw_topology *topology,
                             const struct nw_topology_export_options *options,
                             char **out, char **notes)
{
    struct nw_export export = {.topology = topology, .options = options};
    size_t f = 0, count = sizeof formats / sizeof *formats;
    char *words = NULL;
    nw_status status;

    while (f < count && strcmp(formats[f].name, options->format))
        f++;
    if (f == count)
        return refuse_format(options->format);
    if (!nw_topology_has_parts(topology))
        return nw_fail(NW_EINVAL,
                       "'%s' has distances but no parts, which %s needs",
                       topology->name, formats[f].title);
    status = export_check_options(options);
    if (!status)
        status = formats[f].write(&export);
    if (!status)
        status = take_notes(&export, formats[f].title, &words);
    if (!status)
        status = nw_text_take(&export.text, out);
    if (status)
        free(words);
    else
        *notes = words;
    nw_text_fini(&export.text);
    nw_text_fini(&export.lost);
    return status;
}
