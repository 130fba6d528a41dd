/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/name_index.h"

#include "base/array.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

static const char *name_index_at(const struct nw_names *names, int32_t i)
{
    const char *element = (const char *)names->array + (size_t)i * names->size;

    return *(const char *const *)(const void *)(element + names->offset);
}

static int name_index_compare(const void *a, const void *b, void *names)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    int order = strcmp(name_index_at(names, x), name_index_at(names, y));

    return order ? order : x - y;
}

nw_status nw_names_sort(struct nw_names names, int32_t **order)
{
    nw_status status = nw_alloc(names.count, sizeof **order, order);

    if (status)
        return status;
    for (size_t i = 0; i < names.count; i++)
        (*order)[i] = (int32_t)i;
    qsort_r(*order, names.count, sizeof **order, name_index_compare, &names);
    return NW_OK;
}

int32_t nw_names_find(struct nw_names names, const int32_t *order,
                      const char *name)
{
    size_t low = 0, high = names.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(name_index_at(&names, order[middle]), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < names.count && !strcmp(name_index_at(&names, order[low]), name)
               ? order[low]
               : -1;
}

size_t nw_names_repeated(struct nw_names names, const int32_t *order)
{
    for (size_t i = 1; i < names.count; i++)
        if (!strcmp(name_index_at(&names, order[i - 1]),
                    name_index_at(&names, order[i])))
            return i;
    return 0;
}

/* Returns the slot of `name`: the one that has its number, or the free one for
 * it. */
static size_t *name_table_slot(const struct nw_name_table *table,
                               char *const *names, const char *name)
{
    size_t at = nw_hash_word(0, nw_hash_text(NW_HASH_START, name));

    while (table->slot[at &= table->size - 1] &&
           strcmp(names[table->slot[at] - 1], name))
        at++;
    return &table->slot[at];
}

/* Doubles the number of slots. */
static nw_status name_table_grow(struct nw_name_table *table,
                                 char *const *names)
{
    struct nw_name_table grown = {.size = table->size ? 2 * table->size : 64,
                                  .count = table->count};
    nw_status status = nw_alloc(grown.size, sizeof *grown.slot, &grown.slot);

    for (size_t i = 0; !status && i < table->count; i++)
        *name_table_slot(&grown, names, names[i]) = i + 1;
    if (status)
        return status;
    free(table->slot);
    *table = grown;
    return NW_OK;
}

nw_status nw_name_table_note(struct nw_name_table *table, char *const *names,
                             const char *name, size_t *number)
{
    nw_status status =
        2 * table->count >= table->size ? name_table_grow(table, names) : NW_OK;
    size_t *slot;

    if (status)
        return status;
    slot = name_table_slot(table, names, name);
    if (!*slot)
        *slot = ++table->count;
    *number = *slot - 1;
    return NW_OK;
}

size_t nw_name_table_find(const struct nw_name_table *table, char *const *names,
                          const char *name)
{
    /* a free slot has 0, which becomes SIZE_MAX */
    return table->size ? *name_table_slot(table, names, name) - 1 : SIZE_MAX;
}
