/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NW_BASE_HOST_H
#define NW_BASE_HOST_H

/* Sets `boot` to the kernel's random id of its last boot; "" if unknown. */
void nw_host_boot(char boot[64]);
/* Sets two numbers that together name this host, each at least 0: processes get
 * the same two numbers if their kernel's boot and their host name are the
 * same. */
void nw_host_numbers(int number[2]);

#endif
