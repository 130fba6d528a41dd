/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of host names in Slurm's short form: n[001-128], a[1-3,7]b[0-1],
 * x,y,z. */
#ifndef NW_BASE_HOSTLIST_H
#define NW_BASE_HOSTLIST_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>

#define NW_HOSTLIST_MAX ((size_t)1 << 20) /* names in one list */
#define NW_HOSTNAME_MAX 255               /* bytes in one name */

/* Host names in the order of the list, with duplicates. Initialise with {0}. */
struct nw_hostlist {
    char **name; /* each name is owned */
    size_t count, capacity;
};

/* Appends the names of the list `text`. Names are separated by commas. Each may
 * have any number of brackets with numbers and ranges; the last bracket varies
 * fastest. Numbers keep the width of the first number of their range. Blanks
 * and line ends around names are ignored. On NW_EFORMAT, *list is unchanged,
 * and the message has no file and line, which the caller adds. */
NW_MUST_CHECK nw_status nw_hostlist_expand(const char *text,
                                           struct nw_hostlist *list);
void nw_hostlist_fini(struct nw_hostlist *list);

/* Makes a short list, with at most one bracket in each name, that expands to
 * exactly these names in this order; "" for no names. The caller frees *out. */
NW_MUST_CHECK nw_status nw_hostlist_compress(const char *const *names,
                                             size_t count, char **out);

/* Returns true if every launcher accepts `name` as one host: ASCII letters,
 * digits, dots, underscores and hyphens, beginning with a letter or digit. */
bool nw_host_is_plain(const char *name);

/* Returns NW_EINVAL for a name that is not plain: a launcher could misread it
 * as an option, a list, slots or a port. */
NW_MUST_CHECK nw_status nw_host_check(const char *name);

/* Returns true if a and b are names of one host: "n1" and "n1.site.org" are,
 * "n1.a" and "n1.b" are not. */
bool nw_host_is_same(const char *a, const char *b);

/* Returns true if a name may occur in cluster files and in lists of hosts. */
bool nw_host_is_listable(const char *name);
/* Sets *out to the name of a node after a file: the file's name without folders
 * and suffixes, cut at the first letter that no name has; "machine" if nothing
 * is left. The caller frees it. */
NW_MUST_CHECK nw_status nw_host_name_after(const char *file, char **out);

#endif
