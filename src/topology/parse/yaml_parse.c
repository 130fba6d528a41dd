/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds a tree from the events of libyaml, which is loaded when the first YAML
 * file is read. */
#include "topology/parse/yaml.h"
#include "base/array.h"
#include "base/library.h"
#include "base/status.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define MAX_DEPTH 40
#define MAX_KEYS 1000
#define MAX_VALUES 1000000

static struct {
    int (*initialize)(yaml_parser_t *);
    void (*delete)(yaml_parser_t *);
    void (*set_input)(yaml_parser_t *, const unsigned char *, size_t);
    void (*set_encoding)(yaml_parser_t *, yaml_encoding_t);
    int (*parse)(yaml_parser_t *, yaml_event_t *);
    void (*event_delete)(yaml_event_t *);
} yaml;

static nw_status yaml_load(void)
{
    const struct nw_symbol symbols[] = {
        {"yaml_parser_initialize", &yaml.initialize},
        {"yaml_parser_delete", &yaml.delete},
        {"yaml_parser_set_input_string", &yaml.set_input},
        {"yaml_parser_set_encoding", &yaml.set_encoding},
        {"yaml_parser_parse", &yaml.parse},
        {"yaml_event_delete", &yaml.event_delete},
    };

    return nw_library_load("libyaml-0.so.2", symbols,
                           sizeof symbols / sizeof *symbols,
                           "to read cluster files");
}

/* The state while a tree is built. */
struct builder {
    const char *file, *text;
    int documents, depth;
    size_t values;
    struct nw_yaml *root;
    struct nw_yaml *open[MAX_DEPTH]; /* lists and maps that are not closed
                                        yet */
    /* pending key of the map open[depth - 1]; owned */
    char *key;
    /* keys, then NULL, whose values are left out; NULL: none */
    const char *const *skipped;
    int skip; /* number of open lists and maps in a value that is left out */
};

static nw_status yaml_fail_at(const struct builder *b, size_t line,
                              const char *what)
{
    return nw_fail(NW_EFORMAT, "%s:%zu: %s", b->file, line + 1, what);
}

void nw_yaml_free(struct nw_yaml *node)
{
    if (!node)
        return;
    for (struct nw_yaml *child = node->first, *next; child; child = next) {
        next = child->next;
        nw_yaml_free(child);
    }
    free(node->key);
    free(node->text);
    free(node);
}

/* Adds a new value with the pending key to the innermost open list or map. */
static nw_status yaml_add_value(struct builder *b, enum nw_yaml_kind kind,
                                size_t line, struct nw_yaml **out)
{
    struct nw_yaml *parent = b->depth ? b->open[b->depth - 1] : NULL, *node;
    nw_status status;

    if (b->values++ == MAX_VALUES)
        return yaml_fail_at(b, line, "more than 1000000 values");
    status = nw_alloc(1, sizeof *node, &node);
    if (status)
        return status;
    *node = (struct nw_yaml){
        .kind = kind, .line = (int)line + 1, .file = b->file, .key = b->key};
    b->key = NULL;
    if (!parent)
        b->root = node;
    else if (parent->last)
        parent->last->next = node;
    else
        parent->first = node;
    if (parent) {
        parent->last = node;
        parent->count++;
    }
    *out = node;
    return NW_OK;
}

static nw_status dup_scalar(const struct builder *b, const yaml_event_t *event,
                            char **out)
{
    const char *value = (const char *)event->data.scalar.value;

    for (size_t i = 0; i < event->data.scalar.length; i++)
        if (!value[i] || nw_text_control(value + i))
            return yaml_fail_at(b, event->start_mark.line,
                                "a control character or line break in a value");
    return nw_strdup(value, out);
}

static nw_status take_key(struct builder *b, const yaml_event_t *event)
{
    const struct nw_yaml *map = b->open[b->depth - 1];
    size_t line = event->start_mark.line;
    nw_status status;

    if (event->type != YAML_SCALAR_EVENT)
        return yaml_fail_at(b, line, "a key must be a plain word");
    if (map->count == MAX_KEYS)
        return yaml_fail_at(b, line, "more than 1000 keys in one mapping");
    status = dup_scalar(b, event, &b->key);
    if (!status && nw_yaml_get(map, b->key))
        status = nw_fail(NW_EFORMAT, "%s:%zu: key '%s' is given twice", b->file,
                         line + 1, b->key);
    return status;
}

static nw_status take_value(struct builder *b, const yaml_event_t *event)
{
    enum nw_yaml_kind kind = event->type == YAML_SCALAR_EVENT ? NW_YAML_SCALAR
                             : event->type == YAML_MAPPING_START_EVENT
                                 ? NW_YAML_MAP
                                 : NW_YAML_LIST;
    struct nw_yaml *node = NULL;
    nw_status status;

    if (b->depth && b->open[b->depth - 1]->kind == NW_YAML_MAP && !b->key)
        return take_key(b, event);
    if (kind != NW_YAML_SCALAR && b->depth == MAX_DEPTH)
        return yaml_fail_at(b, event->start_mark.line, "nested deeper than 40");
    status = yaml_add_value(b, kind, event->start_mark.line, &node);
    if (status)
        return status;
    if (kind == NW_YAML_SCALAR)
        return dup_scalar(b, event, &node->text);
    b->open[b->depth++] = node;
    return NW_OK;
}

/* Returns true if the event belongs to a value that is left out. */
static bool yaml_skips(struct builder *b, const yaml_event_t *event)
{
    bool starts = event->type == YAML_SEQUENCE_START_EVENT ||
                  event->type == YAML_MAPPING_START_EVENT;
    bool ends = event->type == YAML_SEQUENCE_END_EVENT ||
                event->type == YAML_MAPPING_END_EVENT;

    if (b->skip) {
        b->skip += starts - ends;
        return true;
    }
    for (const char *const *key = b->skipped; b->key && key && *key; key++)
        if (!strcmp(*key, b->key)) {
            free(b->key);
            b->key = NULL;
            b->skip = starts;
            return true;
        }
    return false;
}

/* Returns true if an event has an anchor or tag, or is an alias. */
static bool is_decorated(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return event->data.scalar.anchor || event->data.scalar.tag;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor ||
               event->data.sequence_start.tag;
    case YAML_MAPPING_START_EVENT:
        return event->data.mapping_start.anchor ||
               event->data.mapping_start.tag;
    default:
        return event->type == YAML_ALIAS_EVENT;
    }
}

static nw_status take_event(struct builder *b, const yaml_event_t *event)
{
    if (yaml_skips(b, event))
        return NW_OK;
    if (is_decorated(event))
        return yaml_fail_at(b, event->start_mark.line,
                            "anchors, aliases and tags are not used here");
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (b->documents++)
            return yaml_fail_at(b, event->start_mark.line,
                                "a second document in the file");
        return NW_OK;
    case YAML_SCALAR_EVENT:
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        return take_value(b, event);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        b->depth--;
        return NW_OK;
    default:
        return NW_OK;
    }
}

/* Returns true if a tab is among the blanks before the words of this line. */
static bool is_indented_by_tab(const char *text, size_t line)
{
    for (; line && *text; text++)
        line -= *text == '\n';
    return memchr(text, '\t', strspn(text, " \t"));
}

static nw_status fail_parser(const struct builder *b,
                             const yaml_parser_t *parser)
{
    size_t line = parser->problem_mark.line;

    if (parser->error == YAML_MEMORY_ERROR)
        return nw_fail(NW_ENOMEM, "out of memory to read %s", b->file);
    if (parser->error == YAML_READER_ERROR) {
        line = 0;
        for (size_t i = 0; i < parser->problem_offset; i++)
            line += b->text[i] == '\n';
    }
    if (parser->error == YAML_SCANNER_ERROR &&
        is_indented_by_tab(b->text, line))
        return yaml_fail_at(b, line,
                            "a tab indents this line; YAML needs blanks");
    return yaml_fail_at(b, line, parser->problem ? parser->problem : "no YAML");
}

static nw_status yaml_build(struct builder *b, yaml_parser_t *parser)
{
    nw_status status = NW_OK;
    bool more = true;

    while (!status && more) {
        yaml_event_t event;

        if (!yaml.parse(parser, &event))
            return fail_parser(b, parser);
        more = event.type != YAML_STREAM_END_EVENT;
        status = take_event(b, &event);
        yaml.event_delete(&event);
    }
    if (!status && !b->root)
        status = yaml_fail_at(b, 0, "no YAML value in the file");
    return status;
}

nw_status nw_yaml_parse(const char *file, const char *text, size_t length,
                        struct nw_yaml **out)
{
    return nw_yaml_parse_without(file, text, length, NULL, out);
}

nw_status nw_yaml_parse_without(const char *file, const char *text,
                                size_t length, const char *const *keys,
                                struct nw_yaml **out)
{
    struct builder b = {.file = file, .text = text, .skipped = keys};
    yaml_parser_t parser;
    nw_status status = yaml_load();

    if (status)
        return status;
    if (!yaml.initialize(&parser))
        return nw_fail(NW_ENOMEM, "out of memory to read %s", file);
    yaml.set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml.set_input(&parser, (const unsigned char *)text, length);
    status = yaml_build(&b, &parser);
    yaml.delete(&parser);
    free(b.key);
    if (status)
        nw_yaml_free(b.root);
    else
        *out = b.root;
    return status;
}
