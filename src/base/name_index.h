/* SPDX-License-Identifier: BSD-3-Clause */
/* Indexes of the names in an array, to find a name and equal names: a sorted
 * one for an array that is complete, and a hash table for one that grows. */
#ifndef NW_BASE_NAME_INDEX_H
#define NW_BASE_NAME_INDEX_H

#include <nodewise/status.h>
#include <stddef.h>
#include <stdint.h>

/* The names are a field `char *` of the elements of an array, at `offset` bytes
 * in an element of `size` bytes. No name is NULL. */
struct nw_names {
    const void *array;
    size_t size, offset, count;
};
#define NW_NAMES(array, field, count)                                          \
    ((struct nw_names){array, sizeof *(array),                                 \
                       offsetof(__typeof__(*(array)), field), count})

/* Sets *order to the element numbers sorted by name; equal names are in the
 * order of their numbers. The caller frees *order. */
NW_MUST_CHECK nw_status nw_names_sort(struct nw_names names, int32_t **order);
/* Returns the lowest number of an element with this name, or -1. `order` is the
 * result of nw_names_sort. */
int32_t nw_names_find(struct nw_names names, const int32_t *order,
                      const char *name);
/* Returns the first position of `order` whose name equals the name before it,
 * or 0 if all names differ. */
size_t nw_names_repeated(struct nw_names names, const int32_t *order);

/* A hash table of different names in an array that may grow, to find a name in
 * constant time. Starts as {0}; the owner frees `slot`. */
struct nw_name_table {
    size_t *slot; /* [size] 1 + the number of a name, or 0 */
    size_t size;  /* a power of 2, or 0 */
    size_t count; /* number of names */
};

/* Sets *number to the number of `name` in names[table->count]. If the array
 * lacks the name, counts it as names[table->count], and the caller must append
 * it. */
NW_MUST_CHECK nw_status nw_name_table_note(struct nw_name_table *table,
                                           char *const *names, const char *name,
                                           size_t *number);
/* Returns the number of `name`, or SIZE_MAX if the table lacks it. */
size_t nw_name_table_find(const struct nw_name_table *table, char *const *names,
                          const char *name);

#endif
