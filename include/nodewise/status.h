/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every call that can fail returns an enum nw_status. This header also gives
 * access to the sentence that explains the last failure.
 */
#ifndef NODEWISE_STATUS_H
#define NODEWISE_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#define NW_API __attribute__((visibility("default")))
#define NW_MPI_API NW_API /* in the MPI libraries only */
#define NW_MUST_CHECK __attribute__((warn_unused_result))
#define NW_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* Each entry gives a status and its general sentence. */
#define NW_STATUS_LIST(X)                                                      \
    X(NW_OK, "no error")                                                       \
    X(NW_ENOMEM, "out of memory")                                              \
    X(NW_EINVAL, "invalid argument")                                           \
    X(NW_EFORMAT, "malformed input")                                           \
    X(NW_EIO, "input or output failed")                                        \
    X(NW_ENODEV, "no such device or component here")                           \
    X(NW_EMPI, "an MPI call failed")                                           \
    X(NW_ECUDA, "a GPU call failed")                                           \
    X(NW_EUNSUPPORTED, "not supported")                                        \
    X(NW_ECANCELLED, "cancelled")                                              \
    X(NW_EHELPER, "a helper program failed")

enum nw_status {
#define NW_STATUS_ENUM(name, sentence) name,
    NW_STATUS_LIST(NW_STATUS_ENUM)
#undef NW_STATUS_ENUM
};
typedef enum nw_status nw_status;

/* The symbolic name ("NW_EFORMAT") and the general sentence of a status. Static
 * strings; never NULL. Local. */
NW_API const char *nw_status_name(nw_status status);
NW_API const char *nw_status_text(nw_status status);

/* The sentence that describes the last failure in this thread: one line without
 * a final newline, or "" if no call has failed yet. For input files the
 * sentence begins with "file:line: ". Borrowed until the next failing call in
 * this thread. Local. */
NW_API const char *nw_error_text(void);

#ifdef __cplusplus
}
#endif
#endif
