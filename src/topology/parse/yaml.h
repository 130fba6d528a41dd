/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a YAML file into a tree in which every value has its file and line, for
 * messages. Anchors, aliases, tags, duplicate keys, several documents and deep
 * nesting are errors.
 */
#ifndef NW_TOPOLOGY_PARSE_YAML_H
#define NW_TOPOLOGY_PARSE_YAML_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum nw_yaml_kind { NW_YAML_SCALAR, NW_YAML_LIST, NW_YAML_MAP };

/* A value, with its children from `first` to `last`. `next` is the next child
 * of its parent. */
struct nw_yaml {
    enum nw_yaml_kind kind;
    int line;
    const char *file; /* borrowed */
    char *key;        /* owned; NULL outside a map */
    char *text;       /* owned; scalars only */
    size_t count;     /* number of children */
    struct nw_yaml *first, *last, *next;
};

/* `file` must outlive *out, which the caller frees with nw_yaml_free.
 * NW_EFORMAT names file and line. */
NW_MUST_CHECK nw_status nw_yaml_parse(const char *file, const char *text,
                                      size_t length, struct nw_yaml **out);
/* Like nw_yaml_parse, but leaves out the values of `keys` in all mappings,
 * whatever they contain. `keys` ends with NULL. */
NW_MUST_CHECK nw_status nw_yaml_parse_without(const char *file,
                                              const char *text, size_t length,
                                              const char *const *keys,
                                              struct nw_yaml **out);
void nw_yaml_free(struct nw_yaml *node);

/* Calls nw_fail(NW_EFORMAT, "file:line: ..."). */
nw_status nw_yaml_fail(const struct nw_yaml *node, const char *format, ...)
    NW_PRINTF(2, 3);
/* If `status` is an error, puts "file:line: " before its message. Returns
 * `status`, but NW_EFORMAT for NW_EINVAL. NW_ENOMEM and its message stay. */
nw_status nw_yaml_place(const struct nw_yaml *node, nw_status status);

/* Returns the value of a key, borrowed; NULL if the map does not have it. */
const struct nw_yaml *nw_yaml_get(const struct nw_yaml *map, const char *key);

/* The next five functions return an error if a value is missing, is of another
 * kind or has another content; an empty list or text is an error, too. The
 * message calls `node` by the word `what`. `keys` has the allowed keys,
 * separated by blanks. */
NW_MUST_CHECK nw_status nw_yaml_check_map(const struct nw_yaml *node,
                                          const char *what, const char *keys);
NW_MUST_CHECK nw_status nw_yaml_check_list(const struct nw_yaml *node,
                                           const char *what);
NW_MUST_CHECK nw_status nw_yaml_need(const struct nw_yaml *map, const char *key,
                                     const struct nw_yaml **out);
NW_MUST_CHECK nw_status nw_yaml_text(const struct nw_yaml *node,
                                     const char **out);
NW_MUST_CHECK nw_status nw_yaml_bool(const struct nw_yaml *node, bool *out);
/* Reads an integer from `least` to `most`. */
NW_MUST_CHECK nw_status nw_yaml_count(const struct nw_yaml *node, int32_t least,
                                      int32_t most, int32_t *out);
/* Reads an integer from 1 to `most` at the key of a map; leaves *out unchanged
 * if the key is missing. */
NW_MUST_CHECK nw_status nw_yaml_count_at(const struct nw_yaml *map,
                                         const char *key, int32_t most,
                                         int32_t *out);

#endif
