/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kernel of one thread block that stays on the GPU and executes the CPU's
 * orders: it copies from the inbox into GPU memory, or from GPU memory into the
 * outbox. It stops after a time without orders, and at the latest when its
 * lease ends, so that no program waits longer for the whole GPU. The CPU then
 * launches it again.
 */
#include "gpu/kernels/device.h"
#include "gpu/resident.h"

/* Waits for the order with this number. Returns 1 and the order in `words`, or
 * 0 if the idle time or the lease is over. */
NW_INLINE int32_t hear(const struct nw_resident *me, uint64_t turn,
                       uint64_t born, uint64_t words[2])
{
    uint64_t at = me->inbox +
                  turn % NW_RESIDENT_DEPTH * sizeof(struct nw_resident_order);
    uint64_t since = NW_CLOCK(), now = since;

    while (now - since < me->idle_ns && now - born < me->lease_ns) {
        words[0] = NW_PEEK(at);
        words[1] = NW_PEEK(at + sizeof(uint64_t));
        if (words[0] >> 48 == (turn & 0xffff) &&
            words[1] >> 48 == (turn & 0xffff))
            return 1;
        now = NW_CLOCK();
    }
    return 0;
}

/* Copies bytes with all threads of the block. `to` and `from` have the same
 * offset in a 16-byte line. */
NW_INLINE void move(uint64_t to, uint64_t from, uint32_t bytes)
{
    uint32_t head = (uint32_t)(-to % NW_RESIDENT_ALIGN), words;

    if (head > bytes)
        head = bytes;
    words = (bytes - head) / NW_RESIDENT_ALIGN;
    for (uint32_t i = NW_THREAD; i < head; i += NW_THREADS)
        NW_RELAY(uint8_t, to + i, from + i);
    for (uint32_t i = NW_THREAD; i < words; i += NW_THREADS)
        NW_RELAY(nw_word16, to + head + (uint64_t)i * NW_RESIDENT_ALIGN,
                 from + head + (uint64_t)i * NW_RESIDENT_ALIGN);
    for (uint32_t i = head + words * NW_RESIDENT_ALIGN + NW_THREAD; i < bytes;
         i += NW_THREADS)
        NW_RELAY(uint8_t, to + i, from + i);
}

NW_INLINE void obey(const struct nw_resident *me, uint64_t turn, uint64_t low,
                    uint64_t high)
{
    uint64_t gpu = (low & 0xffffffffu) | high << 32;
    uint32_t bytes = (uint32_t)(low >> 32) & 0xffff;
    uint64_t slot = turn % NW_RESIDENT_DEPTH * NW_RESIDENT_ROOM +
                    gpu % NW_RESIDENT_ALIGN;
    uint64_t in = me->inbox + sizeof(struct nw_resident_order) *
                                  NW_RESIDENT_DEPTH;
    uint64_t out = me->outbox + NW_RESIDENT_LINE;

    if ((high >> 32 & 0xffff) == NW_RESIDENT_OUT)
        move(out + slot, gpu, bytes);
    else
        move(gpu, in + slot, bytes);
}

NW_KERNEL(1) nw_resident(struct nw_resident me)
{
    /* volatile: otherwise a compiler may read these variables before a
     * barrier */
    NW_SHARED volatile uint64_t low, high;
    NW_SHARED volatile int32_t heard;
    uint64_t born = NW_CLOCK(), turn = me.turn;

    if (NW_THREAD == 0)
        NW_POKE(me.outbox, me.epoch);
    for (;; turn++) {
        if (NW_THREAD == 0) {
            uint64_t came[2] = {0, 0};

            heard = hear(&me, turn, born, came) &&
                    (came[1] >> 32 & 0xffff) != NW_RESIDENT_LEAVE;
            low = came[0];
            high = came[1];
            NW_FENCE(); /* the order was written after its payload */
        }
        NW_BARRIER();
        if (!heard)
            break;
        obey(&me, turn, low, high);
        /* makes the copy visible to all GPUs, NICs and CPUs before the
         * answer */
        NW_FENCE();
        NW_BARRIER();
        if (NW_THREAD == 0)
            NW_POKE(me.outbox + 2 * sizeof(uint64_t), turn);
    }
    if (NW_THREAD == 0) {
        NW_FENCE(); /* after all answers */
        NW_POKE(me.outbox + sizeof(uint64_t), me.epoch);
    }
}
