/* SPDX-License-Identifier: BSD-3-Clause */
/* Checked allocation, growth of flat arrays, and lists by group. */
#ifndef NW_BASE_ARRAY_H
#define NW_BASE_ARRAY_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Like calloc, but on failure sets *out to NULL and returns NW_ENOMEM with an
 * error text. A count of 0 gives a valid pointer, too. The caller frees *out.
 * `out` is a T ** passed as void *. */
NW_MUST_CHECK nw_status nw_alloc(size_t count, size_t size, void *out);

/* Like nw_alloc, but the memory is not cleared. It is for arrays of which every
 * byte is written before it is read, for example by several threads. */
NW_MUST_CHECK nw_status nw_alloc_raw(size_t count, size_t size, void *out);

/* Allocates several arrays: NW_ALLOC_ALL(NW_ARRAY(n, work->gain), NW_ARRAY(n,
 * work->side)). Stops at the first array that cannot be allocated; this one and
 * the following pointers are then NULL, and the caller frees the others. */
struct nw_array {
    size_t count, size;
    void *out;
    bool raw; /* the memory is not cleared, as by nw_alloc_raw */
};
NW_MUST_CHECK nw_status nw_alloc_all(const struct nw_array *array,
                                     size_t count);
#define NW_ARRAY(count, pointer)                                               \
    {                                                                          \
        count, sizeof *(pointer), &(pointer), false                            \
    }
/* Like NW_ARRAY, for an array of which every byte is written before it is read.
 */
#define NW_ARRAY_RAW(count, pointer)                                           \
    {                                                                          \
        count, sizeof *(pointer), &(pointer), true                             \
    }
#define NW_ALLOC_ALL(...)                                                      \
    nw_alloc_all((const struct nw_array[]){__VA_ARGS__},                       \
                 sizeof((const struct nw_array[]){__VA_ARGS__}) /              \
                     sizeof(struct nw_array))

/* Frees several pointers. */
void nw_free_all(void *const *memory, size_t count);
#define NW_FREE_ALL(...)                                                       \
    nw_free_all((void *const[]){__VA_ARGS__},                                  \
                sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))

/* Grows *array to at least `need` elements by doubling; new elements are not
 * cleared. `array` is a T ** passed as void *. */
NW_MUST_CHECK nw_status nw_grow(void *array, size_t *capacity, size_t need,
                                size_t size);

/* Lists the numbers 0 .. count - 1 by group, by counting sort. The members of
 * group g are member[first[g]] .. member[first[g + 1] - 1], in ascending order.
 * group[i] is the group of i; a number with a negative group is left out. first
 * has groups + 2 entries. */
void nw_list_by_group(const int32_t *group, int32_t count, int32_t groups,
                      int32_t *first, int32_t *member);

/* Returns the root of i's group in a union-find forest, in which parent[i] is i
 * itself at a root. Shortens the paths in `parent`. */
static inline int32_t nw_group_root(int32_t *parent, int32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Compares two int32_t, for qsort. */
int nw_compare_int32(const void *a, const void *b);

/* Like strdup, but on failure sets *out to NULL and returns NW_ENOMEM with an
 * error text. */
NW_MUST_CHECK nw_status nw_strdup(const char *text, char **out);

#endif
