/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes jobs for Kubernetes. Their pods read a ConfigMap that is mounted at
 * /etc/nodewise. The names of the topology's nodes must be those of the pods;
 * for JobSet they may be those of the Kubernetes nodes, if NODE_NAME is set
 * from spec.nodeName. (See the documentation of MPI Operator and JobSet; not
 * tested in a cluster.) */
#include "base/status.h"
#include "launch/launcher.h"

#include <ctype.h>
#include <string.h>

#define MOUNT "/etc/nodewise"

/* Appends the name of the ConfigMap: "nodewise", and the letters and digits of
 * the last part of the prefix of the job's files, in lower case, with '-'
 * before the first. Names in Kubernetes consist of lower-case letters, digits
 * and '-'. */
static void kubernetes_add_name(const struct nw_launch_job *job,
                                struct nw_text *text)
{
    const char *prefix = job->options->prefix ? job->options->prefix : "";
    const char *slash = strrchr(prefix, '/');
    char last = '-';

    nw_text_add(text, "nodewise");
    for (const char *at = slash ? slash + 1 : prefix; *at; at++) {
        char letter = (char)tolower((unsigned char)*at);
        bool is_plain = (letter >= 'a' && letter <= 'z') ||
                        (letter >= '0' && letter <= '9');

        if (!is_plain)
            continue;
        nw_text_format(text, "%s%c", last == '-' ? "-" : "", letter);
        last = letter;
    }
}

/* Adds PREFIX.yaml, a ConfigMap that contains a file named `file` with the
 * lines of `content`. */
static nw_status kubernetes_add_map(struct nw_launch_job *job, const char *file,
                                    const char *content)
{
    struct nw_text text = {0};
    const char *path;

    nw_text_add(&text, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ");
    kubernetes_add_name(job, &text);
    nw_text_format(&text, "\ndata:\n  %s: |\n", file);
    while (content && *content) {
        size_t length = strcspn(content, "\n");

        nw_text_add(&text, length ? "    " : "");
        nw_text_add_bytes(&text, content, length);
        nw_text_add(&text, "\n");
        content += length + (content[length] == '\n');
    }
    nw_text_add(&job->note, "apply the ConfigMap and mount it at " MOUNT "\n");
    return nw_launch_add_file(job, "yaml", &text, &path);
}

/* Writes a job for MPI Operator. It gives mpirun a host file itself, so only
 * the rankfile is added. */
nw_status nw_launch_mpi_operator_write(struct nw_launch_job *job)
{
    struct nw_text lines = {0};
    nw_status status;

    if (job->options->place_only)
        return nw_fail(NW_EUNSUPPORTED, "--place-only cannot be used here: a "
                                        "rankfile also binds the ranks");
    nw_launch_add_rank_lines(job, true, &lines);
    status = kubernetes_add_map(job, "rankfile", lines.data);
    nw_text_fini(&lines);
    if (!status)
        status = nw_launch_words(
            job, (const char *[]){"mpirun", "--map-by",
                                  "rankfile:file=" MOUNT "/rankfile",
                                  "--bind-to", "core:overload-allowed", NULL});
    return status ? status : nw_launch_add_thread_words(job, "-x");
}

/* Writes a script for the pods of a JobSet. The script numbers a pod by the
 * mapping and ignores JOB_COMPLETION_INDEX. */
nw_status nw_launch_jobset_write(struct nw_launch_job *job)
{
    struct nw_text script = {0};
    nw_status status = nw_launch_add_torchrun(job, false, &script);

    if (!status)
        status = kubernetes_add_map(job, "launch.sh", script.data);
    nw_text_fini(&script);
    if (!status)
        nw_text_add(&job->note, "every pod runs the command; set POD_SUBDOMAIN "
                                "to the JobSet's subdomain\n");
    return status ? status
                  : nw_launch_words(
                        job, (const char *[]){"sh", MOUNT "/launch.sh", NULL});
}
