/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the SVG elements that our pictures use. The class of an element names
 * what it shows; one style sheet sets the colours for light and dark mode. */
#ifndef NW_REPORT_SVG_H
#define NW_REPORT_SVG_H

#include "base/text.h"

#include <stdarg.h>

/* Number of colours in each ramp, the first of which stands for the smallest
 * values. */
#define NW_SVG_STEPS 9

/* Appends words to text or to an attribute value of XML or HTML. Escapes
 * special characters, and replaces control characters and bytes that are not
 * UTF-8. */
void nw_svg_words(struct nw_text *text, const char *words);
/* Like nw_svg_words, for a printf format. */
void nw_svg_vformat(struct nw_text *text, const char *format, va_list args);
/* Returns the largest number of bytes of `words`, at most `most`, that ends
 * between two UTF-8 characters; 0 if `words` is NULL. It serves as the
 * precision of "%.*s". */
int nw_svg_whole(const char *words, int most);

/* Appends the style sheet of all pictures: classes t0.. (traffic), c0..
 * (congestion) and d0.. (difference, from less to more) colour strokes and
 * fills; `faint`, `frame`, `grid`, `back` colour the rest. */
void nw_svg_style(struct nw_text *text);

/* An <svg> element of width x height units; `title` is for screen readers. If
 * `alone` is set (a file of its own), the element includes style sheet and
 * background; in a page, the CSS property --w sets its width. */
struct nw_svg_frame {
    double width, height;
    const char *title;
    bool alone;
    const char *attributes; /* further attributes, each followed by a blank; or
                             * NULL */
};
void nw_svg_begin(struct nw_text *text, const struct nw_svg_frame *frame);
void nw_svg_end(struct nw_text *text);

/* One line of text; `class` may be "" or several class names. */
struct nw_svg_label {
    double x, y;
    const char *class;
};
void nw_svg_label(struct nw_text *text, struct nw_svg_label at,
                  const char *format, ...) NW_PRINTF(3, 4);

/* A rounded box with a tooltip; no tooltip if `tip` is NULL. */
struct nw_svg_box {
    double x, y, width, height;
    const char *class;
    const char *tip;
};
void nw_svg_box(struct nw_text *text, const struct nw_svg_box *box);

/* The colours of a ramp, with labels at both ends. `ramp`: 't' (traffic), 'c'
 * (congestion) or 'd' (difference). */
struct nw_svg_legend {
    double x, y;
    char ramp;
    const char *low, *high;
};
void nw_svg_legend(struct nw_text *text, const struct nw_svg_legend *legend);

/* Both return the index of a value's colour in a ramp. nw_svg_step uses a
 * logarithmic scale from low to high, nw_svg_even_step a linear scale from 0 to
 * high. */
int nw_svg_step(double value, double low, double high);
int nw_svg_even_step(double value, double high);

#endif
