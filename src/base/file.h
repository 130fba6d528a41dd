/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whole files in, whole files out. Reading refuses directories and unpacks
 * .zst; writing goes to a temporary file beside the target (target.h) and is
 * renamed, so that a full disk leaves the old file intact.
 */
#ifndef NW_BASE_FILE_H
#define NW_BASE_FILE_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Most bytes to read from a character device before it counts as endless. */
enum { NW_FILE_MOST_OF_DEVICE = 1 << 24 };

/* Most bytes of a pipe or of unpacked data: 2 GiB, or half of the memory. */
size_t nw_file_most_of_pipe(void);

/* Reads all of `path` ("-" is standard input) into memory, NUL-terminated
 * (the NUL is not counted). Free with free(). */
NW_MUST_CHECK nw_status nw_file_read(const char *path, char **data,
                                     size_t *length);

/* From here on a pipe is an error instead of waiting for its other end: for
 * libraries inside a program of the user, which must not be held up. */
void nw_file_refuse_pipes(void);
/* NW_EIO for such a pipe; looks at the file only if pipes are refused. */
NW_MUST_CHECK nw_status nw_file_check_pipe(const char *path);

/* False where nothing is kept: no such file, or one without a byte. */
bool nw_file_has_bytes(const char *path);

/* As nw_file_read, and refuses what is empty, holds a NUL or is not UTF-8,
 * with "file:line: ". */
NW_MUST_CHECK nw_status nw_file_read_text(const char *path, char **data,
                                          size_t *length);

/* Like nw_file_read_text, on several threads if the file is large and on
 * disk. */
NW_MUST_CHECK nw_status nw_file_read_text_by(const char *path, int32_t threads,
                                             char **data, size_t *length);

/* Writes the bytes to `path` atomically ("-" is standard output; a device or
 * pipe is written as it is), packed where the name ends in .zst. */
NW_MUST_CHECK nw_status nw_file_write(const char *path, const char *data,
                                      size_t length);

/* The same of a text, which is empty afterwards. */
struct nw_text;
NW_MUST_CHECK nw_status nw_file_write_text(const char *path,
                                           struct nw_text *text);

/* The mode of the file if it exists, else the mode that the umask gives to a
 * new file. */
mode_t nw_file_mode(const char *path);

/* NW_EIO where `path` is a folder, or would be in one that is not there or not
 * the user's: better known before hours of work. NULL and "-" are fine. */
NW_MUST_CHECK nw_status nw_file_writable(const char *path);
/* Like nw_file_writable, for a file that is written in parts by offset: a pipe
 * or a device is an error, too. */
NW_MUST_CHECK nw_status nw_file_writable_in_parts(const char *path);
/* As nw_file_write where `fill` writes what is in it, never packed. */
typedef nw_status nw_file_filler(void *user, int fd, const char *path);
NW_MUST_CHECK nw_status nw_file_write_by(const char *path, nw_file_filler *fill,
                                         void *user);
/* All of the bytes to an open file; `path` is for the error. */
NW_MUST_CHECK nw_status nw_file_put(int fd, const char *path, const char *data,
                                    size_t length);
/* Flushes standard output; NW_EIO if any output, now or before, could not be
 * written. */
NW_MUST_CHECK nw_status nw_file_end_output(void);

enum { NW_FILE_UNNAMED_PATH = 32 };

/* Creates an empty file without a name, in memory, and a path by which this
 * process and its children open the file; nothing stays after they end. The
 * caller closes *fd once every process has opened the file. */
NW_MUST_CHECK nw_status nw_file_unnamed(char path[NW_FILE_UNNAMED_PATH],
                                        int *fd);

struct nw_text;

/* Appends the user's folder of what may be measured again: nodewise in
 * $XDG_CACHE_HOME or ~/.cache. False where neither is known. */
bool nw_file_cache(struct nw_text *out);

/* Appends the path, behind the working folder if it is relative. */
void nw_file_add_absolute(const char *path, struct nw_text *out);

/* Makes the folders above `path`, those that can be: one that is missing shows
 * when the file is written. */
NW_MUST_CHECK nw_status nw_file_folders(const char *path, unsigned mode);

/* Lines of a text in memory, one after the other, comments and blank lines
 * skipped. The text is cut up in place. */
struct nw_lines {
    const char *file; /* for messages; borrowed */
    int line;         /* number of the line last returned, from 1 */
    char *next;
};

/* `data` is borrowed and changed until the last line is taken. */
void nw_lines_init(struct nw_lines *lines, const char *file, char *data);
/* The next line with words in it: cut at '#', no blanks at its ends; NULL at
 * the end. */
char *nw_lines_next(struct nw_lines *lines);
/* Cuts the next blank-separated word off *rest; NULL where none is left. */
char *nw_word_next(char **rest);

/* nw_fail(NW_EFORMAT, "file:line: ...") for the line last returned. */
nw_status nw_lines_fail(const struct nw_lines *lines, const char *format, ...)
    NW_PRINTF(2, 3);

bool nw_text_ends_with(const char *text, const char *end);

#endif
