/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NW_BASE_HOST_H
#define NW_BASE_HOST_H

/* Sets `boot` to the kernel's random id of its last boot; "" if unknown. */
void nw_host_boot(char boot[64]);
/* Sets `space` to the name of this process's PID namespace; "" if unknown. A
 * process id is valid only in processes of the same kernel whose names are
 * equal. */
void nw_host_pid_space(char space[48]);
/* Sets two numbers that together name this host, each at least 0: processes get
 * the same two numbers if their kernel's boot and their host name are the
 * same. */
void nw_host_numbers(int number[2]);

#endif
