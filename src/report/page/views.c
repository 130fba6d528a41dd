/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes buttons by which the reader shows one of several panels. They are
 * radio buttons whose state the style sheet reads, so that they work without
 * scripts and by keyboard. */
#include "report/page/page.h"
#include "report/svg.h"

/* Appends the button of view v; v == views->count is the button that shows all
 * panels. */
static void views_add_button(struct nw_text *text,
                             const struct nw_page_views *views, size_t v)
{
    nw_text_format(text,
                   "<input type=\"radio\" class=\"s%zu\" name=\"%s\" "
                   "id=\"%s-%zu\"%s/>",
                   v, views->name, views->name, v,
                   v == views->shown ? " checked=\"checked\"" : "");
    nw_text_format(text, "<label for=\"%s-%zu\">", views->name, v);
    nw_svg_words(text, v < views->count ? views->title[v] : "side by side");
    nw_text_add(text, "</label>\n");
}

void nw_page_views(struct nw_text *text, const struct nw_page_views *views)
{
    nw_text_add(text, "<div class=\"views\" role=\"radiogroup\" aria-label=\"");
    nw_svg_words(text, views->label);
    nw_text_add(text, "\">\n");
    if (views->count > 1) {
        if (views->shown == views->count)
            views_add_button(text, views, views->count);
        for (size_t v = 0; v < views->count; v++)
            views_add_button(text, views, v);
    }
    nw_text_add(text, "<div class=\"panels\">\n");
}

void nw_page_views_end(struct nw_text *text)
{
    nw_text_add(text, "</div></div>\n");
}

void nw_page_views_style(struct nw_text *text, size_t count)
{
    for (size_t v = 0; v < count; v++)
        nw_text_format(text,
                       ".s%zu:checked~.panels>.panel:not(.v%zu){display:none}",
                       v, v);
    nw_text_add(text, "\n");
}
