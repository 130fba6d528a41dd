/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small XML file as a tree of tags with attributes, each with its line, for
 * the readers of NCCL's files. Text between tags is passed over; entities stay
 * as written; what nests too deep or is too large is refused.
 */
#ifndef NW_TOPOLOGY_PARSE_XML_H
#define NW_TOPOLOGY_PARSE_XML_H

#include <nodewise/status.h>
#include <stddef.h>

struct nw_xml_attribute {
    const char *name, *value;
};

struct nw_xml {
    const char *tag;
    int line;
    struct nw_xml_attribute *attribute; /* owned */
    size_t attribute_count, attribute_capacity;
    struct nw_xml *first, *last, *next;
};

/* Cuts `text` up, which must outlive *out; NW_EFORMAT names file and line. */
NW_MUST_CHECK nw_status nw_xml_parse(const char *file, char *text,
                                     struct nw_xml **out);
void nw_xml_free(struct nw_xml *tree);
/* NULL where the tag has no such attribute. */
const char *nw_xml_get(const struct nw_xml *tag, const char *attribute);

#endif
