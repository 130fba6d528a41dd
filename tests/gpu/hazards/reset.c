/* SPDX-License-Identifier: BSD-3-Clause */
/* The program resets its device, as cudaDeviceReset does, before MPI_Finalize:
 * nothing of the library may then use what the reset freed. */
#include "exchange.h"

int main(void)
{
    int code;

    hazard_begin("reset", MPI_THREAD_SINGLE);
    hazard_primary();
    if (!hazard.reset)
        hazard_absent("the driver lacks cuDevicePrimaryCtxReset");
    exchange_buffers(hazard_memory(EXCHANGE_MOST),
                     hazard_memory(EXCHANGE_MOST));
    code = hazard_result(exchange_all());
    hazard_must(hazard.reset(0), "cuDevicePrimaryCtxReset");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (!hazard.rank && !code)
        printf("ok reset, MPI_Finalize returned\n");
    return code;
}
