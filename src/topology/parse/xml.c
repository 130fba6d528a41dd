/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses XML strictly: every tag must be closed and every value quoted. */
#include "topology/parse/xml.h"
#include "base/array.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 64
#define MAX_TAGS 1000000
/* largest number of attributes of a tag, since each is compared with all
 * others */
#define MAX_ATTRIBUTES 256

/* The state of the parser. `open` has the tags that are not closed yet. */
struct parser {
    const char *file;
    char *at;
    int line;
    int depth;
    int tags;
    struct nw_xml *open[MAX_DEPTH];
    struct nw_xml *root;
};

static nw_status xml_bad(const struct parser *parser, const char *what,
                         const char *name)
{
    return nw_fail(NW_EFORMAT, "%s:%d: %s '%.60s'", parser->file, parser->line,
                   what, name);
}

const char *nw_xml_get(const struct nw_xml *tag, const char *attribute)
{
    for (size_t i = 0; i < tag->attribute_count; i++)
        if (!strcmp(tag->attribute[i].name, attribute))
            return tag->attribute[i].value;
    return NULL;
}

/* Frees a tree. The recursion is at most MAX_DEPTH deep, because the parser
 * accepts no deeper trees. */
void nw_xml_free(struct nw_xml *tree)
{
    while (tree) {
        struct nw_xml *next = tree->next;

        nw_xml_free(tree->first);
        free(tree->attribute);
        free(tree);
        tree = next;
    }
}

static void xml_skip_to(struct parser *parser, char *end)
{
    for (; parser->at < end; parser->at++)
        parser->line += *parser->at == '\n';
}

static void xml_skip_blanks(struct parser *parser)
{
    xml_skip_to(parser, parser->at + strspn(parser->at, " \t\r\n"));
}

static nw_status xml_skip_past(struct parser *parser, const char *end)
{
    char *found = strstr(parser->at, end);

    if (!found)
        return xml_bad(parser, "the file ends before a", end);
    xml_skip_to(parser, found + strlen(end));
    return NW_OK;
}

/* Returns the length of the name at parser->at. The caller first reads the byte
 * after the name and then overwrites it with '\0'. */
static size_t name_length(const struct parser *parser)
{
    return strcspn(parser->at, " \t\r\n=<>/\"'");
}

static nw_status xml_take_attribute(struct parser *parser, struct nw_xml *tag)
{
    struct nw_xml_attribute attribute;
    size_t length = name_length(parser);
    char *end, quote;
    nw_status status;

    if (!length)
        return xml_bad(parser, "an attribute was expected at",
                       *parser->at ? parser->at : "end of file");
    attribute.name = parser->at;
    end = parser->at + length;
    parser->at = end;
    xml_skip_blanks(parser);
    if (*parser->at != '=')
        return nw_fail(NW_EFORMAT, "%s:%d: an attribute of <%s> has no value",
                       parser->file, parser->line, tag->tag);
    parser->at++;
    *end = '\0';
    xml_skip_blanks(parser);
    quote = *parser->at;
    if (quote != '"' && quote != '\'')
        return xml_bad(parser, "no quoted value for attribute", attribute.name);
    attribute.value = parser->at + 1;
    end = strchr(parser->at + 1, quote);
    if (!end)
        return xml_bad(parser, "no end of the value of attribute",
                       attribute.name);
    xml_skip_to(parser, end);
    *parser->at++ = '\0';
    if (tag->attribute_count == MAX_ATTRIBUTES)
        return nw_fail(NW_EFORMAT, "%s:%d: <%.60s> has more than %d attributes",
                       parser->file, parser->line, tag->tag, MAX_ATTRIBUTES);
    if (nw_xml_get(tag, attribute.name))
        return xml_bad(parser, "doubled attribute", attribute.name);
    status = nw_grow(&tag->attribute, &tag->attribute_capacity,
                     tag->attribute_count + 1, sizeof *tag->attribute);
    if (!status)
        tag->attribute[tag->attribute_count++] = attribute;
    return status;
}

static nw_status add_tag(struct parser *parser, struct nw_xml **out)
{
    struct nw_xml *above =
        parser->depth ? parser->open[parser->depth - 1] : NULL;
    struct nw_xml *tag;
    nw_status status;

    if (parser->depth == MAX_DEPTH || parser->tags++ == MAX_TAGS)
        return nw_fail(NW_EFORMAT, "%s:%d: more than %d levels or %d tags",
                       parser->file, parser->line, MAX_DEPTH, MAX_TAGS);
    if (!above && parser->root)
        return nw_fail(NW_EFORMAT, "%s:%d: a second tree of tags", parser->file,
                       parser->line);
    status = nw_alloc(1, sizeof *tag, &tag);
    if (status)
        return status;
    tag->line = parser->line;
    if (!above)
        parser->root = tag;
    else if (above->last)
        above->last->next = tag;
    else
        above->first = tag;
    if (above)
        above->last = tag;
    *out = tag;
    return NW_OK;
}

static nw_status xml_open_tag(struct parser *parser)
{
    size_t length = name_length(parser);
    char *name = parser->at, end = name[length];
    struct nw_xml *tag = NULL;
    nw_status status;

    if (!length || !end)
        return xml_bad(parser, "no tag behind", "<");
    status = add_tag(parser, &tag);
    if (status)
        return status;
    tag->tag = name;
    parser->at += length;
    xml_skip_blanks(parser);
    end = *parser->at; /* read it before the next line, which may overwrite
                          it */
    name[length] = '\0';
    while (!status && end != '>' && end != '/') {
        status = xml_take_attribute(parser, tag);
        if (!status)
            xml_skip_blanks(parser);
        end = *parser->at;
    }
    if (status)
        return status;
    if (end == '>') {
        parser->at++;
        parser->open[parser->depth++] = tag;
        return NW_OK;
    }
    if (parser->at[1] != '>')
        return xml_bad(parser, "no '>' ends", tag->tag);
    parser->at += 2;
    return NW_OK;
}

static nw_status xml_close_tag(struct parser *parser)
{
    size_t length = name_length(parser);
    const struct nw_xml *open;
    char *name = parser->at;

    if (!parser->depth)
        return xml_bad(parser, "nothing is open at the end of", name);
    open = parser->open[--parser->depth];
    if (strlen(open->tag) != length || memcmp(open->tag, name, length))
        return xml_bad(parser,
                       "the tag closed is not the one open:", open->tag);
    parser->at += length;
    xml_skip_blanks(parser);
    if (*parser->at != '>')
        return xml_bad(parser, "no '>' ends", open->tag);
    parser->at++;
    return NW_OK;
}

static nw_status xml_take_tag(struct parser *parser)
{
    if (!strncmp(parser->at, "<!--", 4))
        return xml_skip_past(parser, "-->");
    if (parser->at[1] == '?')
        return xml_skip_past(parser, "?>");
    if (parser->at[1] == '!')
        return xml_skip_past(parser, ">");
    if (parser->at[1] == '/') {
        parser->at += 2;
        return xml_close_tag(parser);
    }
    parser->at++;
    return xml_open_tag(parser);
}

static nw_status parse_all(struct parser *parser)
{
    nw_status status = NW_OK;

    while (!status) {
        xml_skip_blanks(parser);
        if (*parser->at && *parser->at != '<' && !parser->depth)
            return xml_bad(parser, "no XML: a tag was expected, not",
                           parser->at);
        xml_skip_to(parser, parser->at + strcspn(parser->at, "<"));
        if (!*parser->at)
            break;
        status = xml_take_tag(parser);
    }
    if (!status && parser->depth)
        return xml_bad(parser, "the file ends inside",
                       parser->open[parser->depth - 1]->tag);
    if (!status && !parser->root)
        return nw_fail(NW_EFORMAT, "%s:%d: no tag in the file", parser->file,
                       parser->line);
    return status;
}

nw_status nw_xml_parse(const char *file, char *text, struct nw_xml **out)
{
    struct parser parser = {.file = file, .at = text, .line = 1};
    nw_status status;

    status = parse_all(&parser);
    if (status)
        nw_xml_free(parser.root);
    else
        *out = parser.root;
    return status;
}
