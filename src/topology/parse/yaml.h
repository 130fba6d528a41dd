/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A YAML file as a small tree in which every value knows its file and line, so
 * that whoever reads it can say where it went wrong. Anchors, aliases, tags,
 * doubled keys, several documents and deep nesting are refused here.
 */
#ifndef NW_TOPOLOGY_PARSE_YAML_H
#define NW_TOPOLOGY_PARSE_YAML_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum nw_yaml_kind { NW_YAML_SCALAR, NW_YAML_LIST, NW_YAML_MAP };

struct nw_yaml {
    enum nw_yaml_kind kind;
    int line;
    const char *file; /* borrowed */
    char *key;        /* owned; NULL outside a map */
    char *text;       /* owned; scalars only */
    size_t count;     /* children */
    struct nw_yaml *first, *last, *next;
};

/* `file` must outlive *out, which the caller frees with nw_yaml_free.
 * NW_EFORMAT names file and line. */
NW_MUST_CHECK nw_status nw_yaml_parse(const char *file, const char *text,
                                      size_t length, struct nw_yaml **out);
void nw_yaml_free(struct nw_yaml *node);

/* nw_fail(NW_EFORMAT, "file:line: ..."). */
nw_status nw_yaml_fail(const struct nw_yaml *node, const char *format, ...)
    NW_PRINTF(2, 3);
/* Puts "file:line: " before the sentence of a failure that has none. */
nw_status nw_yaml_place(const struct nw_yaml *node, nw_status status);

/* NULL where the map has no such key. */
const struct nw_yaml *nw_yaml_get(const struct nw_yaml *map, const char *key);

/* Each fails where `node` is of another kind or holds something else; `what`
 * names it in the sentence. `keys` is blank-separated. */
NW_MUST_CHECK nw_status nw_yaml_check_map(const struct nw_yaml *node,
                                          const char *what, const char *keys);
NW_MUST_CHECK nw_status nw_yaml_check_list(const struct nw_yaml *node,
                                           const char *what);
NW_MUST_CHECK nw_status nw_yaml_need(const struct nw_yaml *map, const char *key,
                                     const struct nw_yaml **out);
NW_MUST_CHECK nw_status nw_yaml_text(const struct nw_yaml *node,
                                     const char **out);
NW_MUST_CHECK nw_status nw_yaml_bool(const struct nw_yaml *node, bool *out);
/* A whole number from `least` to `most`. */
NW_MUST_CHECK nw_status nw_yaml_count(const struct nw_yaml *node, int32_t least,
                                      int32_t most, int32_t *out);
/* The same of map[key]; *out is left as it is where there is no such key. */
NW_MUST_CHECK nw_status nw_yaml_count_at(const struct nw_yaml *map,
                                         const char *key, int32_t most,
                                         int32_t *out);

#endif
