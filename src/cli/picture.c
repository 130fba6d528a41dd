/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a picture, given as SVG text, to a file. If the file's name ends in
 * .png or .pdf, rsvg-convert first converts the picture to that format. */
#include "cli/picture.h"
#include "base/file.h"
#include "base/install_path.h"
#include "base/spawn.h"
#include "base/status.h"
#include "base/text.h"

#include <limits.h>
#include <string.h>

/* Returns "png" or "pdf" if this is the ending of the file's name, else
 * NULL. */
static const char *picture_format(const char *file)
{
    return nw_text_ends_with(file, ".png")   ? "png"
           : nw_text_ends_with(file, ".pdf") ? "pdf"
                                             : NULL;
}

bool nw_cli_is_converted(const char *file)
{
    return picture_format(file);
}

static nw_status picture_convert(const char *svg, const char *file)
{
    const char *const arguments[] = {"-f", picture_format(file), NULL};
    const struct nw_spawn spawn = {.program = "rsvg-convert",
                                   .arguments = arguments,
                                   .input = svg,
                                   .length = strlen(svg),
                                   .seconds = 600,
                                   .from_path = true};
    struct nw_text picture = {0};
    char path[PATH_MAX];
    nw_status status;
    int how = 0;

    if (!nw_install_path_search(spawn.program, path))
        return nw_fail(NW_ENODEV,
                       "%s needs rsvg-convert (Debian: librsvg2-bin, RHEL: "
                       "librsvg2-tools), which is not in the PATH; write a "
                       "file that ends in .svg instead",
                       file);
    status = nw_spawn_run(&spawn, &picture, &how);
    if (!status && (how || !picture.length))
        status = nw_fail(NW_EHELPER, "rsvg-convert failed; write a file that "
                                     "ends in .svg instead");
    if (!status)
        status = nw_file_write(file, picture.data, picture.length);
    nw_text_fini(&picture);
    return status;
}

nw_status nw_cli_picture_write(const char *file, const char *text)
{
    if (!strncmp(text, "<svg", 4) && nw_cli_is_converted(file))
        return picture_convert(text, file);
    return nw_file_write(file, text, strlen(text));
}
