/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between the GPU memories of two processes, without and with gaps,
 * with every byte checked: for programs about the context from which the
 * messages are sent.
 */
#ifndef NW_TESTS_GPU_EXCHANGE_H
#define NW_TESTS_GPU_EXCHANGE_H

#include "hazard.h"

enum { EXCHANGE_MOST = 1 << 20, EXCHANGE_BLOCKS = 64 };

static uint64_t exchange_out, exchange_in;
static char exchange_image[EXCHANGE_MOST];

static inline void exchange_buffers(uint64_t out, uint64_t in)
{
    exchange_out = out;
    exchange_in = in;
}

/* The number of bytes that differ from those that the other rank sent, and of
 * bytes of gaps that were written. */
static inline long exchange_wrong(long turn, size_t bytes, size_t block,
                                  size_t step)
{
    long wrong = 0;

    hazard_must(hazard.out(exchange_image, exchange_in, bytes), "cuMemcpyDtoH");
    for (size_t i = 0; i < bytes; i++) {
        char right =
            i % step < block ? hazard_byte(turn, !hazard.rank, i) : 0x55;

        wrong += exchange_image[i] != right;
    }
    return wrong;
}

/* Copies into GPU memory and waits: a copy from pageable memory may still be in
 * progress when it returns. */
static inline void exchange_copy_in(uint64_t to, size_t bytes)
{
    hazard_must(hazard.in(to, exchange_image, bytes), "cuMemcpyHtoD");
    hazard_must(hazard.wait(NULL), "cuStreamSynchronize");
}

static inline void exchange_fill(long turn, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        exchange_image[i] = hazard_byte(turn, hazard.rank, i);
    exchange_copy_in(exchange_out, bytes);
    memset(exchange_image, 0x55, bytes);
    exchange_copy_in(exchange_in, bytes);
}

/* Exchanges `blocks` blocks of `block` bytes at distances of `step` bytes,
 * without gaps if both are equal; returns the number of wrong bytes. */
static inline long exchange_one(long turn, int blocks, size_t block,
                                size_t step)
{
    size_t bytes = (size_t)blocks * step;
    MPI_Datatype type;
    int code;

    exchange_fill(turn, bytes);
    MPI_Type_vector(blocks, (int)block, (int)step, MPI_CHAR, &type);
    MPI_Type_commit(&type);
    code = MPI_Sendrecv((void *)(uintptr_t)exchange_out, 1, type, !hazard.rank,
                        1, (void *)(uintptr_t)exchange_in, 1, type,
                        !hazard.rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    hazard_must(code, "MPI_Sendrecv");
    MPI_Type_free(&type);
    return exchange_wrong(turn, bytes, block, step);
}

/* Exchanges small and large messages, without and with gaps; returns the number
 * of wrong bytes. */
static inline long exchange_all(void)
{
    long wrong = 0, turn = 0;

    for (size_t block = 8; block <= EXCHANGE_MOST / EXCHANGE_BLOCKS / 2;
         block *= 8)
        for (int i = 0; i < 5; i++) {
            wrong += exchange_one(turn++, EXCHANGE_BLOCKS, block, block);
            wrong += exchange_one(turn++, EXCHANGE_BLOCKS, block, 2 * block);
        }
    return wrong;
}

#endif
