/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the specification of a generated pattern. A key that its
 * generator does not use is an error, so that typing errors are found. */
#include "pattern/spec.h"

#include "base/array.h"
#include "base/nearest.h"
#include "base/status.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_WEIGHT 1000000000u
#define MAX_EDGES (UINT64_C(1) << 32)
/* upper limit of the bytes that an edge needs in the builder, in the sort and
 * in the pattern */
#define BYTES_OF_EDGE 64

static nw_status add_pair(struct nw_spec *spec, char *pair)
{
    char *equals = strchr(pair, '=');

    if (!equals || equals == pair)
        return nw_fail(NW_EINVAL, "%s: expected key=value, not '%s'",
                       spec->name, pair);
    *equals = '\0';
    for (size_t i = 0; i < spec->count; i++)
        if (!strcmp(spec->pair[i].key, pair))
            return nw_fail(NW_EINVAL, "%s: '%s' is given twice", spec->name,
                           pair);
    if (spec->count == NW_SPEC_KEYS)
        return nw_fail(NW_EINVAL, "%s: too many keys", spec->name);
    spec->pair[spec->count].key = pair;
    spec->pair[spec->count++].value = equals + 1;
    return NW_OK;
}

nw_status nw_spec_init(struct nw_spec *spec, const char *specification)
{
    char *rest, *pair;
    nw_status status;

    *spec = (struct nw_spec){0};
    status = nw_strdup(specification, &spec->text);
    if (status)
        return status;
    rest = spec->text;
    spec->name = strsep(&rest, ":");
    while (!status && rest && *rest) {
        pair = strsep(&rest, ",");
        status = add_pair(spec, pair);
    }
    return status;
}

void nw_spec_fini(struct nw_spec *spec)
{
    free(spec->text);
}

const char *nw_spec_find(struct nw_spec *spec, const char *key)
{
    if (spec->known_count < NW_SPEC_KEYS)
        spec->known[spec->known_count++] = key;
    for (size_t i = 0; i < spec->count; i++)
        if (!strcmp(spec->pair[i].key, key)) {
            spec->pair[i].used = true;
            return spec->pair[i].value;
        }
    return NULL;
}

nw_status nw_spec_lacks(const struct nw_spec *spec, const char *key,
                        const char *example)
{
    for (size_t i = 0; i < spec->count; i++) {
        struct nw_nearest nearest;

        nw_nearest_start(&nearest, spec->pair[i].key,
                         strlen(spec->pair[i].key));
        nw_nearest_try(&nearest, key);
        if (nearest.best)
            return nw_fail(NW_EINVAL, "%s has no key '%s'; %s", spec->name,
                           spec->pair[i].key, nw_nearest_say(&nearest, ""));
    }
    return nw_fail(NW_EINVAL, "%s: %s= is needed, for instance %s=%s",
                   spec->name, key, key, example);
}

/* Returns the error for a key that the generator has not looked for. */
static nw_status spec_fail_key(const struct nw_spec *spec, const char *key)
{
    struct nw_nearest nearest;

    nw_nearest_start(&nearest, key, strlen(key));
    for (size_t i = 0; i < spec->known_count; i++)
        nw_nearest_try(&nearest, spec->known[i]);
    return nw_fail(NW_EINVAL, "%s has no key '%s'; %s", spec->name, key,
                   nw_nearest_say(&nearest, "see nodewise-pattern(1)"));
}

nw_status nw_spec_number(struct nw_spec *spec,
                         const struct nw_spec_number *number)
{
    const char *word = nw_spec_find(spec, number->key);
    uint64_t value;

    if (!word)
        return NW_OK;
    if (!nw_parse_u64(word, &value) || value < number->least ||
        value > number->most)
        return nw_fail(NW_EINVAL,
                       "%s: %s= is a number from %llu to %llu, not "
                       "'%s'",
                       spec->name, number->key,
                       (unsigned long long)number->least,
                       (unsigned long long)number->most, word);
    *number->value = value;
    return NW_OK;
}

/* Reads numbers with separators between them, such as "8x8x4", into at most
 * `most` values. Returns how many there are, or 0 if the word is invalid. */
static size_t read_list(const char *word, const char *separator,
                        uint64_t *values, size_t most)
{
    char copy[128], *rest = copy, *part;
    size_t count = 0;

    if (strlen(word) >= sizeof copy)
        return 0;
    strcpy(copy, word);
    while ((part = strsep(&rest, separator))) {
        if (count == most || !nw_parse_u64(part, &values[count]))
            return 0;
        count++;
    }
    return count;
}

int32_t nw_grid_ranks(const struct nw_grid *grid)
{
    int32_t ranks = 1;

    for (int32_t d = 0; d < grid->dims; d++)
        ranks *= grid->size[d];
    return ranks;
}

nw_status nw_spec_grid(struct nw_spec *spec, struct nw_grid *out)
{
    const char *word = nw_spec_find(spec, "dims");
    uint64_t values[NW_SPEC_DIMS], product = 1;
    size_t count;

    if (!word)
        return nw_spec_lacks(spec, "dims", "8x8");
    count = read_list(word, "x", values, NW_SPEC_DIMS);
    for (size_t i = 0; i < count; i++)
        if (!values[i] || values[i] > INT32_MAX ||
            (product *= values[i]) > INT32_MAX)
            count = 0;
    if (!count)
        return nw_fail(NW_EINVAL,
                       "%s: dims= is 1 to 3 sizes like 4x4x4 with a product "
                       "below 2^31, not '%s'",
                       spec->name, word);
    *out = (struct nw_grid){.dims = (int32_t)count};
    for (size_t i = 0; i < count; i++)
        out->size[i] = (int32_t)values[i];
    return NW_OK;
}

nw_status nw_spec_list(struct nw_spec *spec, const char *key, size_t count,
                       uint64_t *values)
{
    const char *word = nw_spec_find(spec, key);
    uint64_t read[8];
    bool fits;

    if (!word)
        return NW_OK;
    fits = read_list(word, ":", read, 8) == count;
    for (size_t i = 0; fits && i < count; i++)
        fits = read[i] <= MAX_WEIGHT;
    if (!fits)
        return nw_fail(NW_EINVAL,
                       "%s: %s= is %zu whole numbers up to %u joined by ':', "
                       "not '%s'",
                       spec->name, key, count, MAX_WEIGHT, word);
    memcpy(values, read, count * sizeof *values);
    return NW_OK;
}

nw_status nw_spec_kind(struct nw_spec *spec, enum nw_kind *out)
{
    const char *word = nw_spec_find(spec, "kind");

    for (int k = 0; word && k < NW_KIND_COUNT; k++)
        if (!strcmp(word, nw_kind_name((enum nw_kind)k))) {
            *out = (enum nw_kind)k;
            return NW_OK;
        }
    return word ? nw_fail(NW_EINVAL, "%s: kind= is hh, gg, hg or gh, not '%s'",
                          spec->name, word)
                : NW_OK;
}

static nw_status read_bytes(struct nw_spec *spec, uint64_t *out)
{
    const char *word = nw_spec_find(spec, "bytes");

    if (word && !nw_parse_size(word, out))
        return nw_fail(NW_EINVAL,
                       "%s: bytes= is a size like 4096 or 1MiB, not "
                       "'%s'",
                       spec->name, word);
    return NW_OK;
}

nw_status nw_spec_volume(struct nw_spec *spec, struct nw_volume *out)
{
    struct nw_volume volume = {out->kind, 1 << 20, 1};
    uint64_t iterations = 1;
    nw_status status = nw_spec_kind(spec, &volume.kind);

    if (!status)
        status = read_bytes(spec, &volume.bytes);
    if (!status)
        status = nw_spec_number(
            spec, &(struct nw_spec_number){"messages", 1, UINT32_MAX,
                                           &volume.messages});
    if (!status)
        status = nw_spec_number(
            spec,
            &(struct nw_spec_number){"iterations", 1, UINT32_MAX, &iterations});
    if (!status)
        status = nw_scale_bytes(volume.bytes, iterations, &volume.bytes);
    if (status)
        return status;
    volume.messages *= iterations;
    *out = volume;
    return NW_OK;
}

nw_status nw_check_edges(const char *name, uint64_t ranks, uint64_t degree)
{
    uint64_t memory =
        (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

    if (ranks > INT32_MAX || (degree && ranks > MAX_EDGES / degree))
        return nw_fail(NW_EINVAL,
                       "%s: %llu ranks with %llu edges each are too many", name,
                       (unsigned long long)ranks, (unsigned long long)degree);
    if (degree && ranks > memory / (degree * BYTES_OF_EDGE))
        return nw_fail(
            NW_ENOMEM,
            "%s: %llu ranks with %llu edges each take about %llu "
            "GiB of memory, this machine has %llu GiB",
            name, (unsigned long long)ranks, (unsigned long long)degree,
            (unsigned long long)(ranks * degree * BYTES_OF_EDGE) >> 30,
            (unsigned long long)memory >> 30);
    return NW_OK;
}

nw_status nw_spec_builder(const struct nw_spec *spec, uint64_t ranks,
                          uint64_t degree, nw_pattern_builder **out)
{
    nw_status status;

    for (size_t i = 0; i < spec->count; i++)
        if (!spec->pair[i].used)
            return spec_fail_key(spec, spec->pair[i].key);
    status = nw_check_edges(spec->name, ranks, degree);
    return status ? status : nw_pattern_builder_new((int32_t)ranks, out);
}

nw_status nw_scale_bytes(uint64_t bytes, uint64_t weight, uint64_t *out)
{
    if (__builtin_mul_overflow(bytes, weight, out))
        return nw_fail(NW_EINVAL, "the bytes of an edge pass 2^64 - 1");
    return NW_OK;
}

nw_status nw_add_volume(nw_pattern_builder *builder, int32_t src, int32_t dst,
                        const struct nw_volume *volume)
{
    return nw_pattern_builder_add(builder, src, dst, volume->kind,
                                  volume->bytes, volume->messages);
}
