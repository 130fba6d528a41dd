/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses lists and files of hosts as users and launchers write them. */
#ifndef NW_BASE_HOSTFILE_H
#define NW_BASE_HOSTFILE_H

#include <nodewise/status.h>
#include <stddef.h>
#include <stdint.h>

/* Receives one host of a job. `slots` is the largest number of ranks on the
 * host, or 0 if not given. `user` is the pointer that the caller of the parser
 * passed. */
typedef nw_status nw_host_adder(void *user, const char *name, int32_t slots);

/* Calls add() for each host of a list such as "n[1-4]:8,x". */
NW_MUST_CHECK nw_status nw_hostfile_list(const char *list, nw_host_adder *add,
                                         void *user);
/* Calls add() for each host of one line of a host file, such as "n1",
 * "me@n[1-4]:8" or "n1 slots=8", also with blanks around '=', or with Open
 * MPI's words cpu and count instead of slots. Ignores words that have another
 * meaning for a launcher. */
NW_MUST_CHECK nw_status nw_hostfile_line(char *line, nw_host_adder *add,
                                         void *user);

/* Calls take() for each line of a host file that has words, until it fails. An
 * error NW_EFORMAT or NW_EINVAL of take() is completed by the names of file and
 * line. `count` points to the caller's number of hosts: if it is 0 after the
 * last line, the file has no hosts, which is NW_EFORMAT, too. */
typedef nw_status nw_host_taker(void *user, char *line);
NW_MUST_CHECK nw_status nw_hostfile_read(const char *path, nw_host_taker *take,
                                         void *user, const size_t *count);

/* Returns the sum of the slots of a host that is listed twice. The sum is at
 * most INT32_MAX - 1. A listing without slots (0) counts as one slot, as in
 * PBS's list of nodes. */
int32_t nw_hostfile_slots_sum(int32_t one, int32_t other);

#endif
