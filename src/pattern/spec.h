/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses "NAME:key=value,key=value", the specification of a generated pattern.
 */
#ifndef NW_PATTERN_SPEC_H
#define NW_PATTERN_SPEC_H

#include <nodewise/pattern.h>

#define NW_SPEC_KEYS 24
#define NW_SPEC_DIMS 3

/* A parsed specification. `used` is true if a generator has read the key. */
struct nw_spec {
    char *text; /* copy of the specification, cut at its separators; owned */
    const char *name;
    struct {
        const char *key, *value;
        bool used;
    } pair[NW_SPEC_KEYS];
    size_t count;
    /* keys that the generator has looked for, of static storage */
    const char *known[NW_SPEC_KEYS];
    size_t known_count;
};

NW_MUST_CHECK nw_status nw_spec_init(struct nw_spec *spec,
                                     const char *specification);
void nw_spec_fini(struct nw_spec *spec);

/* Returns the value of `key`, or NULL if the key is not given. */
const char *nw_spec_find(struct nw_spec *spec, const char *key);

/* Returns the error for a key that is needed and not given, or for a key that
 * is given and nearly has its name. `example` is a value of the key. */
NW_MUST_CHECK nw_status nw_spec_lacks(const struct nw_spec *spec,
                                      const char *key, const char *example);

/* A whole number from least to most. nw_spec_number sets *value, or leaves it
 * unchanged if the key is not given. */
struct nw_spec_number {
    const char *key;
    uint64_t least, most;
    uint64_t *value;
};
NW_MUST_CHECK nw_status nw_spec_number(struct nw_spec *spec,
                                       const struct nw_spec_number *number);
/* A grid such as "8x8x4": 1 to 3 sizes whose product is at most 2^31 - 1.
 * nw_spec_grid fails if the key is not given. */
struct nw_grid {
    int32_t dims, size[NW_SPEC_DIMS];
};
NW_MUST_CHECK nw_status nw_spec_grid(struct nw_spec *spec, struct nw_grid *out);
int32_t nw_grid_ranks(const struct nw_grid *grid);
/* Parses `count` whole numbers up to 10^9, such as "3:1:1". */
NW_MUST_CHECK nw_status nw_spec_list(struct nw_spec *spec, const char *key,
                                     size_t count, uint64_t *values);

/* The traffic of an edge of weight 1 in the whole run. nw_spec_volume reads
 * these keys: kind, bytes (per exchange, default 1 MiB), messages (per
 * exchange, default 1) and iterations (default 1). *out must hold the default
 * kind. */
struct nw_volume {
    enum nw_kind kind;
    uint64_t bytes, messages;
};
NW_MUST_CHECK nw_status nw_spec_volume(struct nw_spec *spec,
                                       struct nw_volume *out);

/* Parses the kind of an edge, such as "hh". *out is unchanged if the key is not
 * given. */
NW_MUST_CHECK nw_status nw_spec_kind(struct nw_spec *spec, enum nw_kind *out);

/* Fails with NW_EINVAL for more than 2^31 - 1 ranks or 2^32 edges, and with
 * NW_ENOMEM if the edges need more memory than the machine has. `degree` is the
 * number of edges per rank; the message begins with `name`. */
NW_MUST_CHECK nw_status nw_check_edges(const char *name, uint64_t ranks,
                                       uint64_t degree);
/* Creates a builder for `ranks` ranks with about `degree` edges per rank, and
 * fails as nw_check_edges. Call this after all keys are read: an unused key
 * fails with NW_EINVAL. */
NW_MUST_CHECK nw_status nw_spec_builder(const struct nw_spec *spec,
                                        uint64_t ranks, uint64_t degree,
                                        nw_pattern_builder **out);

/* nw_add_volume adds an edge with this traffic to the builder. nw_scale_bytes
 * multiplies bytes by the weight of an edge. NW_EINVAL if the product exceeds
 * 64 bits. */
NW_MUST_CHECK nw_status nw_add_volume(nw_pattern_builder *builder, int32_t src,
                                      int32_t dst,
                                      const struct nw_volume *volume);
NW_MUST_CHECK nw_status nw_scale_bytes(uint64_t bytes, uint64_t weight,
                                       uint64_t *out);

/* Each generator reads its keys from `spec` and adds its edges to a new
 * builder. */
typedef nw_status nw_generator(struct nw_spec *spec,
                               nw_pattern_builder **builder);
nw_generator nw_generate_stencil, nw_generate_training;

#endif
