/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads values of a YAML tree and reports values of the wrong kind. */
#include "base/status.h"
#include "base/c_locale.h"
#include "base/text.h"
#include "topology/parse/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

nw_status nw_yaml_fail(const struct nw_yaml *node, const char *format, ...)
{
    nw_status status;
    va_list args;

    va_start(args, format);
    status = nw_fail_line(node->file, node->line, format, args);
    va_end(args);
    return status;
}

nw_status nw_yaml_place(const struct nw_yaml *node, nw_status status)
{
    if (!status || status == NW_ENOMEM)
        return status;
    return nw_fail(status == NW_EINVAL ? NW_EFORMAT : status, "%s:%d: %s",
                   node->file, node->line, nw_error_text());
}

const struct nw_yaml *nw_yaml_get(const struct nw_yaml *map, const char *key)
{
    for (const struct nw_yaml *child = map->first; child; child = child->next)
        if (child->key && !strcmp(child->key, key))
            return child;
    return NULL;
}

/* Returns true if `word` is one of the words in `words`, which blanks
 * separate. */
static bool is_among(const char *words, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = words; *at; at += strspn(at, " ")) {
        size_t end = strcspn(at, " ");

        if (end == length && !strncmp(at, word, length))
            return true;
        at += end;
    }
    return false;
}

nw_status nw_yaml_check_map(const struct nw_yaml *node, const char *what,
                            const char *keys)
{
    if (node->kind != NW_YAML_MAP)
        return nw_yaml_fail(node, "%s must be a mapping", what);
    for (const struct nw_yaml *child = node->first; child; child = child->next)
        if (!is_among(keys, child->key))
            return nw_yaml_fail(child, "unknown key '%s' in %s; known are: %s",
                                child->key, what, keys);
    return NW_OK;
}

nw_status nw_yaml_check_list(const struct nw_yaml *node, const char *what)
{
    if (node->kind != NW_YAML_LIST || !node->count)
        return nw_yaml_fail(node, "%s must be a list that is not empty", what);
    return NW_OK;
}

nw_status nw_yaml_need(const struct nw_yaml *map, const char *key,
                       const struct nw_yaml **out)
{
    const struct nw_yaml *child = nw_yaml_get(map, key);

    if (!child)
        return nw_yaml_fail(map, "'%s' is missing", key);
    *out = child;
    return NW_OK;
}

static const char *name_of(const struct nw_yaml *node, char room[64])
{
    if (!node->key)
        return "an item of the list";
    snprintf(room, 64, "'%.60s'", node->key);
    return room;
}

nw_status nw_yaml_text(const struct nw_yaml *node, const char **out)
{
    char name[64];

    if (node->kind != NW_YAML_SCALAR || !*node->text)
        return nw_yaml_fail(node, "%s must be a word", name_of(node, name));
    *out = node->text;
    return NW_OK;
}

nw_status nw_yaml_bool(const struct nw_yaml *node, bool *out)
{
    char name[64];
    bool yes = node->kind == NW_YAML_SCALAR && !strcmp(node->text, "true");

    if (!yes && (node->kind != NW_YAML_SCALAR || strcmp(node->text, "false")))
        return nw_yaml_fail(node, "%s must be true or false",
                            name_of(node, name));
    *out = yes;
    return NW_OK;
}

nw_status nw_yaml_count(const struct nw_yaml *node, int32_t least, int32_t most,
                        int32_t *out)
{
    char name[64];
    int32_t value;

    if (node->kind != NW_YAML_SCALAR || !nw_parse_i32(node->text, &value) ||
        value < least || value > most)
        return nw_yaml_fail(node, "%s must be a whole number from %d to %d",
                            name_of(node, name), least, most);
    *out = value;
    return NW_OK;
}

nw_status nw_yaml_count_at(const struct nw_yaml *map, const char *key,
                           int32_t most, int32_t *out)
{
    const struct nw_yaml *child = nw_yaml_get(map, key);

    return child ? nw_yaml_count(child, 1, most, out) : NW_OK;
}
