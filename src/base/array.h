/* SPDX-License-Identifier: BSD-3-Clause */
/* Checked allocation, and growth of flat arrays. */
#ifndef NW_BASE_ARRAY_H
#define NW_BASE_ARRAY_H

#include <nodewise/status.h>
#include <stddef.h>

/* calloc that fails with NW_ENOMEM in words; count 0 gives a valid pointer.
 * Free with free(). `out` is a T ** passed as void *. */
NW_MUST_CHECK nw_status nw_alloc(size_t count, size_t size, void *out);

/* Like nw_alloc, but uninitialised: several threads write every byte before
 * reading. */
NW_MUST_CHECK nw_status nw_alloc_raw(size_t count, size_t size, void *out);

/* Grows *array to at least `need` elements by doubling; new elements are not
 * cleared. `array` is a T ** passed as void *. */
NW_MUST_CHECK nw_status nw_grow(void *array, size_t *capacity, size_t need,
                                size_t size);

/* strdup with a sentence. */
NW_MUST_CHECK nw_status nw_strdup(const char *text, char **out);

#endif
