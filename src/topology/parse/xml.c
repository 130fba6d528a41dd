/* SPDX-License-Identifier: BSD-3-Clause */
/* Scans XML strictly: every tag must be closed and every value quoted. */
#include "topology/parse/xml.h"
#include "base/array.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 128
/* largest number of attributes of a tag, since each is compared with all
 * others */
#define MAX_ATTRIBUTES 256

/* The state of the scanner. `open` has the names of the tags that are not
 * closed yet. */
struct xml_scanner {
    const char *file;
    char *at;
    int line;
    int depth;
    bool any; /* a tag was opened */
    struct nw_xml_word open[MAX_DEPTH];
    struct nw_xml_word name[MAX_ATTRIBUTES], value[MAX_ATTRIBUTES];
    nw_xml_take *take;
    void *user;
};

nw_status nw_xml_fail(const char *file, int line, const char *what,
                      struct nw_xml_word word)
{
    return nw_fail(NW_EFORMAT, "%s:%d: %s '%.*s'", file, line, what,
                   word.length > 60 ? 60 : (int)word.length, word.start);
}

static nw_status xml_bad(const struct xml_scanner *scanner, const char *what,
                         struct nw_xml_word word)
{
    return nw_xml_fail(scanner->file, scanner->line, what, word);
}

/* Like xml_bad for the character at the current position. */
static nw_status xml_bad_here(const struct xml_scanner *scanner,
                              const char *what)
{
    const char *at = scanner->at;

    return nw_fail(NW_EFORMAT, "%s:%d: %s '%.*s'", scanner->file, scanner->line,
                   what, *at ? *at != '\n' : 60, *at ? at : "end of file");
}

bool nw_xml_is(struct nw_xml_word word, const char *text)
{
    return word.length == strlen(text) &&
           !memcmp(word.start, text, word.length);
}

static bool xml_is_same(struct nw_xml_word a, struct nw_xml_word b)
{
    return a.length == b.length && !memcmp(a.start, b.start, a.length);
}

struct nw_xml_word nw_xml_value(const struct nw_xml_opening *opening,
                                const char *attribute)
{
    for (size_t i = 0; i < opening->count; i++)
        if (nw_xml_is(opening->name[i], attribute))
            return opening->value[i];
    return (struct nw_xml_word){NULL, 0};
}

static void xml_skip_to(struct xml_scanner *scanner, char *end)
{
    for (; scanner->at < end; scanner->at++)
        scanner->line += *scanner->at == '\n';
}

static void xml_skip_blanks(struct xml_scanner *scanner)
{
    xml_skip_to(scanner, scanner->at + strspn(scanner->at, " \t\r\n"));
}

/* Moves past the next `end` in the text. Fails if the file ends before it. */
static nw_status xml_skip_past(struct xml_scanner *scanner, const char *end)
{
    char *found = strstr(scanner->at, end);

    if (!found)
        return nw_fail(NW_EFORMAT, "%s:%d: the file ends before a '%s'",
                       scanner->file, scanner->line, end);
    xml_skip_to(scanner, found + strlen(end));
    return NW_OK;
}

static struct nw_xml_word xml_take_name(struct xml_scanner *scanner)
{
    struct nw_xml_word word = {scanner->at,
                               strcspn(scanner->at, " \t\r\n=<>/\"'")};

    scanner->at += word.length;
    return word;
}

static nw_status xml_take_attribute(struct xml_scanner *scanner,
                                    struct nw_xml_opening *opening)
{
    struct nw_xml_word name = xml_take_name(scanner), value;
    char quote[] = {'\0', '<', '\0'};

    if (!name.length)
        return xml_bad_here(scanner, "an attribute was expected at");
    xml_skip_blanks(scanner);
    if (*scanner->at != '=')
        return xml_bad(scanner, "no value for attribute", name);
    scanner->at++;
    xml_skip_blanks(scanner);
    quote[0] = *scanner->at;
    if (quote[0] != '"' && quote[0] != '\'')
        return xml_bad(scanner, "no quoted value for attribute", name);
    scanner->at++;
    value = (struct nw_xml_word){scanner->at, strcspn(scanner->at, quote)};
    if (value.start[value.length] != quote[0])
        return xml_bad(scanner, "no end of the value of attribute", name);
    xml_skip_to(scanner, value.start + value.length + 1);
    if (opening->count == MAX_ATTRIBUTES)
        return nw_fail(NW_EFORMAT, "%s:%d: <%.*s> has more than %d attributes",
                       scanner->file, scanner->line,
                       opening->tag.length > 60 ? 60 : (int)opening->tag.length,
                       opening->tag.start, MAX_ATTRIBUTES);
    for (size_t i = 0; i < opening->count; i++)
        if (xml_is_same(scanner->name[i], name))
            return xml_bad(scanner, "doubled attribute", name);
    scanner->name[opening->count] = name;
    scanner->value[opening->count++] = value;
    return NW_OK;
}

static nw_status xml_open_tag(struct xml_scanner *scanner)
{
    struct nw_xml_opening opening = {.file = scanner->file,
                                     .line = scanner->line,
                                     .depth = scanner->depth,
                                     .text = {scanner->at++, 0},
                                     .name = scanner->name,
                                     .value = scanner->value};
    nw_status status = NW_OK;

    opening.tag = xml_take_name(scanner);
    if (!opening.tag.length)
        return nw_fail(NW_EFORMAT, "%s:%d: no tag after '<'", scanner->file,
                       scanner->line);
    if (scanner->depth == MAX_DEPTH)
        return nw_fail(NW_EFORMAT, "%s:%d: more than %d levels of tags",
                       scanner->file, scanner->line, MAX_DEPTH);
    if (!scanner->depth && scanner->any)
        return nw_fail(NW_EFORMAT, "%s:%d: a second tree of tags",
                       scanner->file, scanner->line);
    xml_skip_blanks(scanner);
    while (!status && *scanner->at != '>' && *scanner->at != '/') {
        status = xml_take_attribute(scanner, &opening);
        xml_skip_blanks(scanner);
    }
    if (status)
        return status;
    opening.closed = *scanner->at == '/';
    scanner->at += opening.closed;
    if (*scanner->at != '>')
        return xml_bad(scanner, "no '>' ends", opening.tag);
    scanner->at++;
    opening.text.length = (size_t)(scanner->at - opening.text.start);
    scanner->any = true;
    if (!opening.closed)
        scanner->open[scanner->depth++] = opening.tag;
    return scanner->take(scanner->user, &opening);
}

static nw_status xml_close_tag(struct xml_scanner *scanner)
{
    struct nw_xml_word tag;

    scanner->at += strlen("</");
    tag = xml_take_name(scanner);
    xml_skip_blanks(scanner);
    if (*scanner->at != '>')
        return xml_bad(scanner, "no '>' ends", tag);
    scanner->at++;
    if (!scanner->depth)
        return xml_bad(scanner, "nothing is open at the end of", tag);
    if (!xml_is_same(scanner->open[--scanner->depth], tag))
        return xml_bad(scanner, "the tag closed is not the one open:", tag);
    return NW_OK;
}

static nw_status xml_take_tag(struct xml_scanner *scanner)
{
    if (!strncmp(scanner->at, "<!--", 4))
        return xml_skip_past(scanner, "-->");
    if (scanner->at[1] == '?')
        return xml_skip_past(scanner, "?>");
    if (scanner->at[1] == '!')
        return xml_skip_past(scanner, ">");
    return scanner->at[1] == '/' ? xml_close_tag(scanner)
                                 : xml_open_tag(scanner);
}

nw_status nw_xml_scan(const char *file, char *text, nw_xml_take *take,
                      void *user)
{
    struct xml_scanner scanner = {
        .file = file, .at = text, .line = 1, .take = take, .user = user};
    nw_status status = NW_OK;

    while (!status) {
        xml_skip_blanks(&scanner);
        if (*scanner.at && *scanner.at != '<' && !scanner.depth)
            return xml_bad_here(&scanner, "no XML: a tag was expected, not");
        xml_skip_to(&scanner, scanner.at + strcspn(scanner.at, "<"));
        if (!*scanner.at)
            break;
        status = xml_take_tag(&scanner);
    }
    if (!status && scanner.depth)
        return xml_bad(&scanner, "the file ends inside",
                       scanner.open[scanner.depth - 1]);
    if (!status && !scanner.any)
        return nw_fail(NW_EFORMAT, "%s:%d: no tag in the file", file,
                       scanner.line);
    return status;
}

/* -- the tree -- */

#define MAX_TAGS 1000000

/* `open` has the last tag of each depth. */
struct xml_tree {
    struct nw_xml *root, *open[MAX_DEPTH];
    int tags;
};

const char *nw_xml_get(const struct nw_xml *tag, const char *attribute)
{
    for (size_t i = 0; i < tag->attribute_count; i++)
        if (!strcmp(tag->attribute[i].name, attribute))
            return tag->attribute[i].value;
    return NULL;
}

/* Frees a tree. The recursion is at most MAX_DEPTH deep, because the scanner
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

/* Ends the word by a NUL, in place of the character that follows it. */
static const char *xml_end_word(struct nw_xml_word word)
{
    word.start[word.length] = '\0';
    return word.start;
}

static nw_status xml_set_attributes(struct nw_xml *tag,
                                    const struct nw_xml_opening *opening)
{
    nw_status status =
        nw_alloc(opening->count, sizeof *tag->attribute, &tag->attribute);

    if (status)
        return status;
    tag->attribute_count = opening->count;
    for (size_t i = 0; i < opening->count; i++)
        tag->attribute[i] = (struct nw_xml_attribute){
            xml_end_word(opening->name[i]), xml_end_word(opening->value[i])};
    return NW_OK;
}

static nw_status xml_add_tag(void *user, const struct nw_xml_opening *opening)
{
    struct xml_tree *tree = user;
    struct nw_xml *above =
        opening->depth ? tree->open[opening->depth - 1] : NULL;
    struct nw_xml *tag;
    nw_status status;

    if (tree->tags++ == MAX_TAGS)
        return nw_fail(NW_EFORMAT, "%s:%d: more than %d tags", opening->file,
                       opening->line, MAX_TAGS);
    status = nw_alloc(1, sizeof *tag, &tag);
    if (status)
        return status;
    tag->line = opening->line;
    tag->tag = xml_end_word(opening->tag);
    if (!above)
        tree->root = tag;
    else if (above->last)
        above->last->next = tag;
    else
        above->first = tag;
    if (above)
        above->last = tag;
    if (!opening->closed)
        tree->open[opening->depth] = tag;
    return xml_set_attributes(tag, opening);
}

nw_status nw_xml_parse(const char *file, char *text, struct nw_xml **out)
{
    struct xml_tree tree = {.root = NULL};
    nw_status status = nw_xml_scan(file, text, xml_add_tag, &tree);

    if (status)
        nw_xml_free(tree.root);
    else
        *out = tree.root;
    return status;
}
