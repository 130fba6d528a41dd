/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts as users and launchers write them, in a list or in a file. */
#ifndef NW_CLI_HOST_WORDS_H
#define NW_CLI_HOST_WORDS_H

#include <nodewise/status.h>
#include <stddef.h>
#include <stdint.h>

/* Takes one host of a job; slots: most ranks on it, 0 where it is not said. */
typedef nw_status nw_host_adder(void *user, const char *name, int32_t slots);

/* Gives the hosts of "n[1-4]:8,x" to `add`. */
NW_MUST_CHECK nw_status nw_cli_host_list(const char *list, nw_host_adder *add,
                                         void *user);
/* Those of a line of a launcher's file: "n1", "me@n[1-4]:8", "n1 slots=8", also
 * with blanks around the sign or as Open MPI's cpu and count. Words that say
 * nothing of slots are passed over where a launcher knows them. */
NW_MUST_CHECK nw_status nw_cli_host_line(char *line, nw_host_adder *add,
                                         void *user);

/* Gives each line of a file of hosts to `take`, whose NW_EFORMAT gets file and
 * line; NW_EFORMAT, too, where `*count` is 0 after the last. */
typedef nw_status nw_host_taker(void *user, char *line);
NW_MUST_CHECK nw_status nw_cli_host_file(const char *path, nw_host_taker *take,
                                         void *user, const size_t *count);

/* A host named twice has the slots of both. A bare name stands for one then, as
 * in the list of nodes of PBS. */
int32_t nw_cli_slots_both(int32_t one, int32_t other);

#endif
