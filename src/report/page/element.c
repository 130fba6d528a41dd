/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the HTML elements that several sections use. */
#include "report/page/page.h"
#include "report/svg.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

void nw_page_element(struct nw_text *text, const char *tag, const char *format,
                     ...)
{
    va_list args;

    nw_text_format(text, "<%s>", tag);
    va_start(args, format);
    nw_svg_vformat(text, format, args);
    va_end(args);
    nw_text_format(text, "</%.*s>", (int)strcspn(tag, " "), tag);
}

void nw_page_cell(struct nw_text *text, double value, enum nw_unit unit)
{
    char words[32];

    nw_page_element(text, "td", "%s",
                    nw_format_quantity(value, unit, words, sizeof words));
}

void nw_page_share(struct nw_text *text, const char *words, double value,
                   double all)
{
    nw_text_add(text, "<td>");
    nw_svg_words(text, words);
    if (all > 0)
        nw_text_format(
            text, "<span class=\"bar\"><i style=\"width:%.1f%%\"></i></span>",
            100 * fmin(1, value / all));
    nw_text_add(text, "</td>");
}

void nw_page_wide(struct nw_text *text, const char *label)
{
    nw_text_format(text,
                   "<div class=\"wide\" role=\"region\" aria-label=\"%s\" "
                   "tabindex=\"0\">\n",
                   label);
}

void nw_page_wide_end(struct nw_text *text)
{
    nw_text_add(text, "</div>\n");
}
