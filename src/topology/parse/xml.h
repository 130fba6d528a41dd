/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a small XML file into a tree of tags with attributes and line numbers,
 * for the readers of NCCL's files. Text between tags is ignored, and entities
 * are not decoded. Files that are too large or nested too deeply are errors.
 */
#ifndef NW_TOPOLOGY_PARSE_XML_H
#define NW_TOPOLOGY_PARSE_XML_H

#include <nodewise/status.h>
#include <stddef.h>

struct nw_xml_attribute {
    const char *name, *value;
};

/* A tag, with its children from `first` to `last`. `next` is the next child of
 * its parent. */
struct nw_xml {
    const char *tag;
    int line;
    struct nw_xml_attribute *attribute; /* owned */
    size_t attribute_count, attribute_capacity;
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
