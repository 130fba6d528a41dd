/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes SVG: escaped text, the style sheet, and a few shapes. */
#include "report/svg.h"
#include "base/c_locale.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns what is written instead of a character of SVG text: an entity for
 * & < > " ', a blank for tab and line ends, U+FFFD for other control
 * characters; NULL if the character is written unchanged. */
static const char *escape_of(unsigned char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    case '\t':
    case '\n':
    case '\r':
        return " ";
    default:
        return c < ' ' || c == 0x7f ? "\xef\xbf\xbd" : NULL;
    }
}

/* Returns the length in bytes of the UTF-8 character at `at`, or 0 if the bytes
 * are not UTF-8 or XML forbids the character, such as U+FFFE and U+FFFF. */
static size_t svg_character(const char *at)
{
    bool none =
        !strncmp(at, "\xef\xbf\xbe", 3) || !strncmp(at, "\xef\xbf\xbf", 3);

    return none ? 0 : nw_text_character(at);
}

void nw_svg_words(struct nw_text *text, const char *words)
{
    while (*words) {
        const char *escape = escape_of((unsigned char)*words);
        size_t length = svg_character(words);

        if (escape || !length)
            nw_text_add(text, escape ? escape : "\xef\xbf\xbd");
        else
            nw_text_add_bytes(text, words, length);
        words += length ? length : 1;
    }
}

void nw_svg_vformat(struct nw_text *text, const char *format, va_list args)
{
    char *words;

    if (nw_vasprintf(&words, format, args) < 0) {
        text->failed = true;
        return;
    }
    nw_svg_words(text, words);
    free(words);
}

int nw_svg_whole(const char *words, int most)
{
    return words ? (int)nw_text_cut(words, (size_t)most) : 0;
}

/* A ramp of colours, which runs through three colours. Lightness falls steadily
 * (in dark mode, rises), so that the order is visible without distinguishing
 * hues. The ramp of differences is faint in its middle. */
struct ramp {
    char letter;
    unsigned colour[2][3]; /* light, dark */
};
static const struct ramp ramps[] = {
    {'t', {{0xcfe3f5, 0x4a90c8, 0x0b2e5c}, {0x24506f, 0x3a86c4, 0x9ad3ff}}},
    {'c', {{0xfbdfa6, 0xe5762a, 0x6e0f12}, {0x5a3d22, 0xa8521c, 0xff6a3d}}},
    {'d', {{0x0b6b5d, 0xe3e8ec, 0xb33c0b}, {0x3fd0b6, 0x2b343d, 0xff8a4c}}},
};

/* Mixes two RGB colours; `part` is the share of `b`, from 0 to 1. */
static unsigned svg_blend(unsigned a, unsigned b, double part)
{
    unsigned mixed = 0;

    for (int shift = 0; shift <= 16; shift += 8) {
        double from = (double)(a >> shift & 255);
        double to = (double)(b >> shift & 255);

        mixed |= (unsigned)lround(from + (to - from) * part) << shift;
    }
    return mixed;
}

static void add_ramp(struct nw_text *text, const struct ramp *ramp, int dark)
{
    const unsigned *colour = ramp->colour[dark];

    for (int i = 0; i < NW_SVG_STEPS; i++) {
        double at = 2.0 * i / (NW_SVG_STEPS - 1);
        unsigned mixed = at < 1 ? svg_blend(colour[0], colour[1], at)
                                : svg_blend(colour[1], colour[2], at - 1);

        nw_text_format(
            text, ".%c%d{stroke:#%06x}.f.%c%d{fill:#%06x;background:#%06x}",
            ramp->letter, i, mixed, ramp->letter, i, mixed, mixed);
    }
    nw_text_add(text, "\n");
}

static void add_scheme(struct nw_text *text, int dark)
{
    nw_text_add(text, dark ? ".nw text{fill:#e4e9ee}.nw .faint{fill:#9aa7b4}"
                             ".back{fill:#11161b}"
                             ".frame{fill:#1a2129;stroke:#3b4753}"
                             ".part{fill:#222b35;stroke:#3b4753}"
                             ".core{fill:#3d6f99}.gpu{fill:#3f9c78}"
                             ".switch{fill:#8a78b8}.nic{fill:#b08a45}"
                             ".grid{stroke:#5b6875}.wire{stroke:#7b8894}"
                             ".halo{stroke:#1a2129}\n"
                           : ".nw text{fill:#1d2731}.nw .faint{fill:#5c6975}"
                             ".back{fill:#ffffff}"
                             ".frame{fill:#f7f9fb;stroke:#c3ccd5}"
                             ".part{fill:#ebeff3;stroke:#c3ccd5}"
                             ".core{fill:#6ea3cf}.gpu{fill:#4fb28a}"
                             ".switch{fill:#8e7cc3}.nic{fill:#d0a250}"
                             ".grid{stroke:#9aa7b4}.wire{stroke:#74818d}"
                             ".halo{stroke:#f7f9fb}\n");
    for (size_t i = 0; i < sizeof ramps / sizeof *ramps; i++)
        add_ramp(text, &ramps[i], dark);
}

void nw_svg_style(struct nw_text *text)
{
    nw_text_add(
        text,
        ".nw text{font:12px system-ui,'DejaVu Sans',sans-serif}"
        ".nw .small{font-size:10px}.nw .strong{font-weight:600}"
        ".nw .end{text-anchor:end}.nw .mid{text-anchor:middle}"
        ".heat path{fill:none;stroke-width:1.02}.nw{max-width:100%;height:auto}"
        ".hot{stroke-width:2}.grid,.wire,.link,.halo{fill:none}"
        ".grid{stroke-width:.6}.ends,.halo{stroke-linecap:round}"
        "path.link{stroke-linecap:round}\n");
    add_scheme(text, 0);
    nw_text_add(text, "@media (prefers-color-scheme:dark){\n");
    add_scheme(text, 1);
    nw_text_add(text, "}\n");
}

void nw_svg_begin(struct nw_text *text, const struct nw_svg_frame *frame)
{
    nw_text_add(text, "<svg class=\"nw\" ");
    if (frame->attributes)
        nw_text_add(text, frame->attributes);
    if (!frame->alone)
        nw_text_format(text, "style=\"--w:%gpx\" ", frame->width);
    if (frame->alone)
        nw_text_add(text, "xmlns=\"http://www.w3.org/2000/svg\" ");
    nw_text_format(text,
                   "width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" "
                   "role=\"img\">\n<title>",
                   frame->width, frame->height, frame->width, frame->height);
    nw_svg_words(text, frame->title);
    nw_text_add(text, "</title>\n");
    if (!frame->alone)
        return;
    nw_text_add(text, "<style>\n");
    nw_svg_style(text);
    nw_text_add(text, "</style>\n<rect class=\"back\" width=\"100%\" "
                      "height=\"100%\"/>\n");
}

void nw_svg_end(struct nw_text *text)
{
    nw_text_add(text, "</svg>\n");
}

void nw_svg_label(struct nw_text *text, struct nw_svg_label at,
                  const char *format, ...)
{
    va_list args;

    nw_text_format(text, "<text x=\"%g\" y=\"%g\"", at.x, at.y);
    if (*at.class)
        nw_text_format(text, " class=\"%s\"", at.class);
    nw_text_add(text, ">");
    va_start(args, format);
    nw_svg_vformat(text, format, args);
    va_end(args);
    nw_text_add(text, "</text>\n");
}

void nw_svg_box(struct nw_text *text, const struct nw_svg_box *box)
{
    nw_text_format(text,
                   "<rect class=\"%s\" x=\"%g\" y=\"%g\" width=\"%g\" "
                   "height=\"%g\" rx=\"%g\"",
                   box->class, box->x, box->y, box->width, box->height,
                   fmin(4, fmin(box->width, box->height) / 5));
    if (!box->tip) {
        nw_text_add(text, "/>\n");
        return;
    }
    nw_text_add(text, "><title>");
    nw_svg_words(text, box->tip);
    nw_text_add(text, "</title></rect>\n");
}

void nw_svg_legend(struct nw_text *text, const struct nw_svg_legend *legend)
{
    double wide = 16, x = legend->x + 64;

    nw_svg_label(text,
                 (struct nw_svg_label){x - 6, legend->y + 10, "small end"},
                 "%s", legend->low);
    for (int i = 0; i < NW_SVG_STEPS; i++)
        nw_text_format(text,
                       "<rect class=\"f %c%d\" x=\"%g\" y=\"%g\" width=\"%g\" "
                       "height=\"12\" stroke=\"none\"/>\n",
                       legend->ramp, i, x + i * wide, legend->y, wide);
    nw_svg_label(text,
                 (struct nw_svg_label){x + NW_SVG_STEPS * wide + 6,
                                       legend->y + 10, "small"},
                 "%s", legend->high);
}

int nw_svg_step(double value, double low, double high)
{
    double part;

    if (value >= high || low >= high)
        return NW_SVG_STEPS - 1;
    if (value <= low)
        return 0;
    part = log(value / low) / log(high / low);
    return (int)fmin(part * NW_SVG_STEPS, NW_SVG_STEPS - 1);
}

int nw_svg_even_step(double value, double high)
{
    return (int)fmin(value / high * NW_SVG_STEPS, NW_SVG_STEPS - 1);
}
