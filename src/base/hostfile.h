/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses lists and files of hosts as users and launchers write them. */
#ifndef NW_BASE_HOSTFILE_H
#define NW_BASE_HOSTFILE_H

#include <nodewise/status.h>
#include <stddef.h>
#include <stdint.h>

/* Called for one host of a job; slots: most ranks on this host; 0: not
 * given. */
typedef nw_status nw_host_adder(void *user, const char *name, int32_t slots);

/* Calls add() for each host of a list such as "n[1-4]:8,x". */
NW_MUST_CHECK nw_status nw_hostfile_list(const char *list, nw_host_adder *add,
                                         void *user);
/* Calls add() for each host of a line of a launcher's file: "n1",
 * "me@n[1-4]:8", "n1 slots=8", also with blanks around the sign, or with Open
 * MPI's cpu and count. Ignores words with another meaning that a launcher
 * knows. */
NW_MUST_CHECK nw_status nw_hostfile_line(char *line, nw_host_adder *add,
                                         void *user);

/* Calls take() for each line of a file of hosts, and adds file and line to its
 * NW_EFORMAT. Returns NW_EFORMAT, too, if *count is 0 after the last line: the
 * file has no hosts. */
typedef nw_status nw_host_taker(void *user, char *line);
NW_MUST_CHECK nw_status nw_hostfile_read(const char *path, nw_host_taker *take,
                                         void *user, const size_t *count);

/* Returns the sum of the slots of a host that is named twice. 0 (not given)
 * counts as 1, as in the list of nodes of PBS. */
int32_t nw_hostfile_slots_sum(int32_t one, int32_t other);

#endif
