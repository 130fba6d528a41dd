/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads XML, for the readers of hwloc's and NCCL's files. nw_xml_scan tells
 * each opening tag to a function, and nw_xml_parse makes a tree of a small
 * file. Text between tags is ignored, and entities are not decoded. Files that
 * are nested too deeply are errors.
 */
#ifndef NW_TOPOLOGY_PARSE_XML_H
#define NW_TOPOLOGY_PARSE_XML_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>

/* A part of the text; no NUL ends it. */
struct nw_xml_word {
    char *start;
    size_t length;
};

/* An opening tag. `text` is the whole, from '<' to '>'. The function that gets
 * the tag may change this text. */
struct nw_xml_opening {
    const char *file;
    int line, depth; /* depth: number of tags that are open around this one */
    bool closed;     /* the tag ends in "/>" */
    struct nw_xml_word text, tag;
    struct nw_xml_word *name, *value; /* [count] the attributes */
    size_t count;
};

typedef nw_status nw_xml_take(void *user, const struct nw_xml_opening *opening);

/* Calls take() for each opening tag of `text`, in their order, until take()
 * fails. Returns NW_EFORMAT with file and line if the text is not XML: every
 * tag must be closed, and every value quoted. */
NW_MUST_CHECK nw_status nw_xml_scan(const char *file, char *text,
                                    nw_xml_take *take, void *user);
bool nw_xml_is(struct nw_xml_word word, const char *text);
/* Returns NW_EFORMAT with the text "FILE:LINE: WHAT 'WORD'". */
NW_MUST_CHECK nw_status nw_xml_fail(const char *file, int line,
                                    const char *what, struct nw_xml_word word);
/* Returns the value of an attribute. Its `start` is NULL if the tag does not
 * have the attribute. */
struct nw_xml_word nw_xml_value(const struct nw_xml_opening *opening,
                                const char *attribute);

struct nw_xml_attribute {
    const char *name, *value;
};

/* A tag, with its children from `first` to `last`. `next` is the next child of
 * its parent. */
struct nw_xml {
    const char *tag;
    int line;
    struct nw_xml_attribute *attribute; /* owned */
    size_t attribute_count;
    struct nw_xml *first, *last, *next;
};

/* Parses `text`, which is changed and must outlive *out. NW_EFORMAT names file
 * and line. The caller frees *out with nw_xml_free. */
NW_MUST_CHECK nw_status nw_xml_parse(const char *file, char *text,
                                     struct nw_xml **out);
void nw_xml_free(struct nw_xml *tree);
/* Returns the value of an attribute; NULL if the tag does not have it. */
const char *nw_xml_get(const struct nw_xml *tag, const char *attribute);

#endif
