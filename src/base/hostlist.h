/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of nodes written short, the way Slurm does: n[001-128],
 * a[1-3,7]b[0-1], x,y,z. */
#ifndef NW_BASE_HOSTLIST_H
#define NW_BASE_HOSTLIST_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>

#define NW_HOSTLIST_MAX ((size_t)1 << 20) /* names in one list */
#define NW_HOSTNAME_MAX 255               /* bytes in one name */

/* Start from {0}. Names in the order written; doubles are kept. */
struct nw_hostlist {
    char **name; /* owned, each */
    size_t count, capacity;
};

/* Appends the names `text` stands for: a comma list of names, each with any
 * number of brackets of numbers and ranges, the last bracket running fastest.
 * Numbers keep the width of the first of their range. Blanks and line ends
 * around names are passed over. NW_EFORMAT without file and line, which the
 * caller knows, and *list is then as it was. */
NW_MUST_CHECK nw_status nw_hostlist_expand(const char *text,
                                           struct nw_hostlist *list);
void nw_hostlist_fini(struct nw_hostlist *list);

/* The shortest list of that kind with one bracket a name that expands to
 * exactly these names in this order; "" for none. Free with free(). */
NW_MUST_CHECK nw_status nw_hostlist_compress(const char *const *names,
                                             size_t count, char **out);

/* Whether every launcher takes it for one name: ASCII letters, digits, dots,
 * underscores and hyphens, the first a letter or digit. */
bool nw_host_is_plain(const char *name);

/* "n1" and "n1.site.org" are one host, "n1.a" and "n1.b" are two. */
bool nw_host_is_same(const char *a, const char *b);

#endif
