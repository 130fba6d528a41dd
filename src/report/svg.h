/* SPDX-License-Identifier: BSD-3-Clause */
/* The small part of SVG that our pictures are made of. Pictures say what a
 * thing is by class; one style sheet colours them for light and dark. */
#ifndef NW_REPORT_SVG_H
#define NW_REPORT_SVG_H

#include "base/text.h"

#include <stdarg.h>

/* Both ramps have this many steps, from little to much. */
#define NW_SVG_STEPS 9

/* Words from anywhere as text or attribute of XML and HTML: escaped, control
 * characters and bytes that are not UTF-8 replaced. */
void nw_svg_words(struct nw_text *text, const char *words);
/* The same of a format of printf. */
void nw_svg_vformat(struct nw_text *text, const char *format, va_list args);
/* How many of the first `most` bytes are whole characters: for "%.*s". */
int nw_svg_whole(const char *words, int most);

/* The style of all pictures: classes t0.. (traffic), c0.. (congestion) and
 * d0.. (difference, from less to more) colour strokes and fills, `faint`,
 * `frame`, `grid`, `back` the rest. */
void nw_svg_style(struct nw_text *text);

/* An <svg> element of that many units, named for people who cannot see it.
 * A picture that stands alone brings its style and background; one of a page
 * has its width in the property --w. */
struct nw_svg_frame {
    double width, height;
    const char *title;
    bool alone;
    const char *attributes; /* more of them, each with a blank behind; or
                               NULL */
};
void nw_svg_begin(struct nw_text *text, const struct nw_svg_frame *frame);
void nw_svg_end(struct nw_text *text);

/* A line of words; `class` may be "" or hold several. */
struct nw_svg_label {
    double x, y;
    const char *class;
};
void nw_svg_label(struct nw_text *text, struct nw_svg_label at,
                  const char *format, ...) NW_PRINTF(3, 4);

/* Rounded box with a tooltip (NULL for none). */
struct nw_svg_box {
    double x, y, width, height;
    const char *class;
    const char *tip;
};
void nw_svg_box(struct nw_text *text, const struct nw_svg_box *box);

/* The ramp of class letter `ramp` ('t', 'c' or 'd') with words at its ends. */
struct nw_svg_legend {
    double x, y;
    char ramp;
    const char *low, *high;
};
void nw_svg_legend(struct nw_text *text, const struct nw_svg_legend *legend);

/* The step of a value on a logarithmic scale from low to high, or on an even
 * one from 0. */
int nw_svg_step(double value, double low, double high);
int nw_svg_even_step(double value, double high);

#endif
