/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the reader of slurm:FILE by the file's name and content. */
#include "topology/slurm/slurm.h"
#include "topology/source.h"
#include "base/array.h"
#include "base/file.h"
#include "base/status.h"
#include <stdlib.h>
#include <string.h>

static bool is_yaml(const char *file)
{
    return nw_text_ends_with(file, ".yaml") ||
           nw_text_ends_with(file, ".yml") ||
           nw_text_ends_with(file, ".yaml.zst") ||
           nw_text_ends_with(file, ".yml.zst");
}

static nw_status source_read_file(struct nw_slurm *slurm, const char *name,
                                  enum nw_elements elements)
{
    struct nw_yaml *root;
    size_t length;
    char *text;
    nw_status status = nw_file_read_text(slurm->file, &text, &length);

    if (status)
        return status;
    if (!is_yaml(slurm->file)) {
        status = name ? nw_fail(NW_EINVAL,
                                "topology=%s: only a topology.yaml holds "
                                "several topologies, not %s",
                                name, slurm->file)
                      : nw_slurm_conf(slurm, text, elements);
    } else {
        status = nw_yaml_parse(slurm->file, text, length, &root);
        if (!status) {
            status = nw_slurm_yaml(slurm, root, name, elements);
            nw_yaml_free(root);
        }
    }
    free(text);
    return status;
}

nw_status nw_source_slurm(const char *what, enum nw_elements elements,
                          nw_topology **out)
{
    static const char option[] = ",topology=";
    struct nw_slurm slurm = {0};
    char *file, *name;
    nw_status status = nw_strdup(what, &file);

    if (status)
        return status;
    name = strstr(file, option);
    if (name) {
        *name = '\0';
        name += strlen(option);
    }
    slurm.file = file;
    status = nw_topology_new(file, &slurm.topology);
    if (!status)
        status = source_read_file(&slurm, name, elements);
    if (status)
        nw_topology_free(slurm.topology);
    else
        *out = slurm.topology;
    nw_slurm_fini(&slurm);
    free(file);
    return status;
}
