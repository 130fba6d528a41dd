/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads and writes whole files. Reading refuses directories and unpacks .zst
 * files. Writing creates a temporary file beside the target (target.h) and
 * renames it, so that a full disk leaves the old file intact.
 */
#ifndef NW_BASE_FILE_H
#define NW_BASE_FILE_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Maximum number of bytes to read from a character device. More bytes are an
 * error. */
enum { NW_FILE_MOST_OF_DEVICE = 1 << 24 };

/* Returns the maximum number of bytes to read from a pipe or to unpack: 2 GiB,
 * or half of the memory if that is less. */
size_t nw_file_most_of_pipe(void);

/* Reads all of `path` ("-" is standard input) into memory, followed by a NUL,
 * which *length does not count. The caller frees *data. */
NW_MUST_CHECK nw_status nw_file_read(const char *path, char **data,
                                     size_t *length);

/* After this call, opening a named pipe to read or write it is an error, since
 * it could block. Libraries that are preloaded into a user's program call it.
 */
void nw_file_refuse_pipes(void);
/* Returns NW_EIO if pipes are refused and `path` is a pipe. */
NW_MUST_CHECK nw_status nw_file_check_pipe(const char *path);

/* Returns NW_EIO if `path` is a pipe or a device. For names that come from
 * another file or from a folder, since reading a pipe could block forever. */
NW_MUST_CHECK nw_status nw_file_check_regular(const char *path);

/* Returns true if the file exists and is not an empty regular file. */
bool nw_file_has_bytes(const char *path);

/* Like nw_file_read, but refuses a file that is empty, has a NUL or is not
 * UTF-8; this error begins with "file:line: ". Removes a byte order mark, and
 * converts line ends that are carriage returns only. */
NW_MUST_CHECK nw_status nw_file_read_text(const char *path, char **data,
                                          size_t *length);

/* Like nw_file_read_text, but reads a large file on disk with up to `threads`
 * threads. */
NW_MUST_CHECK nw_status nw_file_read_text_by(const char *path, int32_t threads,
                                             char **data, size_t *length);

/* Writes the bytes to `path` atomically, compressed if the name ends in .zst.
 * "-" is standard output. A device or a pipe is written directly. */
NW_MUST_CHECK nw_status nw_file_write(const char *path, const char *data,
                                      size_t length);

/* Like nw_file_write for a text, which it empties. */
struct nw_text;
NW_MUST_CHECK nw_status nw_file_write_text(const char *path,
                                           struct nw_text *text);

/* Returns the permission bits of the file if it exists, else those that the
 * umask gives to a new file. */
mode_t nw_file_mode(const char *path);

/* Returns NW_EIO if `path` is a folder, or if the folder that contains it is
 * missing or not writable. Call it before long computations. NULL, "-", devices
 * and pipes are fine. */
NW_MUST_CHECK nw_status nw_file_writable(const char *path);
/* Like nw_file_writable, for a file that is written in parts by offset: a pipe
 * or a device is an error, too. */
NW_MUST_CHECK nw_status nw_file_writable_in_parts(const char *path);
/* Like nw_file_write, but fill() writes the content, which is never
 * compressed. */
typedef nw_status nw_file_filler(void *user, int fd, const char *path);
NW_MUST_CHECK nw_status nw_file_write_by(const char *path, nw_file_filler *fill,
                                         void *user);
/* Writes all bytes to an open file; `path` is for the error message. */
NW_MUST_CHECK nw_status nw_file_put(int fd, const char *path, const char *data,
                                    size_t length);
/* Like write(2), but never raises the signal `number`, which is SIGPIPE (the
 * reader of a pipe has closed it) or SIGXFSZ (the file would exceed the
 * process's size limit): the write only fails. */
ssize_t nw_file_write_without(int number, int fd, const void *data,
                              size_t length);
/* Flushes standard output; NW_EIO if any output, now or before, could not be
 * written. */
NW_MUST_CHECK nw_status nw_file_end_output(void);

/* Locks an open file; `how` is LOCK_EX or LOCK_SH. Returns false if another
 * process still holds the lock at the time until_ns (nw_clock_ns). A file
 * system without locks is not an error. */
bool nw_file_lock_until(int fd, int how, uint64_t until_ns);
/* Locks the file, which is created if it is missing, so that no other process
 * that calls this function changes it. The caller may replace the file by
 * nw_file_write, and closes the result to unlock it. Waits for at most 10 s, as
 * the process with the lock may be stopped. Returns -1 if the file cannot be
 * opened. A file system without locks is not an error. */
int nw_file_lock(const char *path);

enum { NW_FILE_UNNAMED_PATH = 32 };

/* Creates an empty file without a name, in memory, and a path by which this
 * process and its forked children open the file; nothing stays after they end.
 * A program that a child executes cannot open it. The caller closes *fd once
 * every process has opened the file. */
NW_MUST_CHECK nw_status nw_file_unnamed(char path[NW_FILE_UNNAMED_PATH],
                                        int *fd);

struct nw_text;

/* Appends the user's folder for data that can be measured again: nodewise in
 * $XDG_CACHE_HOME or ~/.cache. Returns false if both are unknown. */
bool nw_file_cache(struct nw_text *out);
/* Stores `file`, or if it is NULL, the path of the file `name` in the folder of
 * nw_file_cache. Returns NW_EINVAL if that folder is unknown. The caller frees
 * *out. */
NW_MUST_CHECK nw_status nw_file_cache_path(const char *file, const char *name,
                                           char **out);

/* Appends `path` as an absolute path: a relative path follows that of the
 * working folder, if this can be found. */
void nw_file_add_absolute(const char *path, struct nw_text *out);

/* Creates the missing folders above `path`, with the permission bits `mode`.
 * Returns NW_EIO if a folder is missing and cannot be created. */
NW_MUST_CHECK nw_status nw_file_folders(const char *path, unsigned mode);

/* Iterates over the lines of a text in memory without comments and blank lines.
 * It changes the text. */
struct nw_lines {
    const char *file; /* for messages; borrowed */
    int line;         /* number of the line last returned, from 1 */
    char *next;
};

/* `data` is borrowed and must live until the last line was taken. */
void nw_lines_init(struct nw_lines *lines, const char *file, char *data);
/* Returns the next line that has words, without its comment after '#' and
 * without blanks at its ends; NULL at the end of the text. */
char *nw_lines_next(struct nw_lines *lines);
/* Cuts the next blank-separated word off *rest and returns it; NULL if no word
 * is left. */
char *nw_word_next(char **rest);

/* Calls nw_fail(NW_EFORMAT, "file:line: ...") for the line last returned. */
nw_status nw_lines_fail(const struct nw_lines *lines, const char *format, ...)
    NW_PRINTF(2, 3);

bool nw_text_ends_with(const char *text, const char *end);

#endif
