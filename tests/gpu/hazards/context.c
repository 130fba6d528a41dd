/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's memory belongs to a context of cuCtxCreate, as PyCUDA's does,
 * not to the primary one. Kernels of another context must not be run on it. */
#include "exchange.h"

int main(void)
{
    void *own = NULL, *now = NULL;
    int code;

    hazard_begin("context", MPI_THREAD_SINGLE);
    if (!hazard.create)
        hazard_absent("the driver lacks cuCtxCreate_v2");
    hazard_must(hazard.create(&own, 0, 0), "cuCtxCreate");
    exchange_buffers(hazard_memory(EXCHANGE_MOST),
                     hazard_memory(EXCHANGE_MOST));
    code = hazard_result(exchange_all());
    hazard_must(hazard.get(&now), "cuCtxGetCurrent");
    if (now != own)
        printf("FAULT context: rank %d: another context is current now\n",
               hazard.rank);
    MPI_Finalize();
    return code || now != own;
}
