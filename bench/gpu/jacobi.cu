/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A CUDA MPI program that knows nothing of Nodewise: Jacobi steps on a plane that
 * is divided into stripes, one for each rank, with the rows at the borders sent
 * from GPU memory to GPU memory by MPI. An MPI without GPU support needs the
 * preloaded library to run it.
 *
 *     jacobi [CELLS [STEPS]]       (cells a side of the plane: 4096; 200)
 *
 * Rank 0 prints the time of a step. The exit status is 1 if the result differs
 * from the same steps on the host (compared up to 512 cells a side).
 */
#include <cuda_runtime.h>
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <unistd.h>

static int rank, ranks;

static void must(cudaError_t code, const char *what)
{
    if (code == cudaSuccess)
        return;
    fprintf(stderr, "jacobi: rank %d: %s: %s\n", rank, what,
            cudaGetErrorString(code));
    sleep(1); /* so that the launcher forwards this before it ends all ranks */
    MPI_Abort(MPI_COMM_WORLD, 1);
}

__global__ void step(const float *from, float *to, int columns, int rows)
{
    int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    int y = (int)(blockIdx.y * blockDim.y + threadIdx.y) + 1;
    size_t at = (size_t)y * columns + x;

    if (x > 0 && x < columns - 1 && y <= rows)
        to[at] = 0.25f * (from[at - 1] + from[at + 1] + from[at - columns] +
                          from[at + columns]);
}

static float first_value(int x, int y)
{
    return (float)((x * 31 + y * 17) % 101);
}

/* The ghost rows above and below the stripe. */
static void exchange(float *plane, int columns, int rows)
{
    int up = rank ? rank - 1 : MPI_PROC_NULL;
    int down = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    size_t row = (size_t)columns;

    MPI_Sendrecv(plane + row, columns, MPI_FLOAT, up, 1, plane + (rows + 1) * row,
                 columns, MPI_FLOAT, down, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(plane + rows * row, columns, MPI_FLOAT, down, 2, plane, columns,
                 MPI_FLOAT, up, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Cells of the stripe that differ from the same steps on the host. */
static long wrong_cells(const std::vector<float> &stripe, int n, int rows,
                        int steps)
{
    std::vector<float> now((size_t)n * (n + 2), 0), next;
    long wrong = 0;

    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            now[(size_t)(y + 1) * n + x] = first_value(x, y);
    next = now;
    for (int i = 0; i < steps; i++, now.swap(next))
        for (int y = 1; y <= n; y++)
            for (int x = 1; x < n - 1; x++) {
                size_t at = (size_t)y * n + x;

                next[at] = 0.25f *
                           (now[at - 1] + now[at + 1] + now[at - n] + now[at + n]);
            }
    for (int y = 1; y <= rows; y++)
        for (int x = 0; x < n; x++)
            wrong += std::fabs(stripe[(size_t)y * n + x] -
                               now[(size_t)(rank * rows + y) * n + x]) > 1e-3f;
    return wrong;
}

int main(int argc, char **argv)
{
    int n, steps, rows, gpus = 0;
    float *plane[2];
    double seconds;
    long wrong = 0, all = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    n = argc > 1 ? atoi(argv[1]) : 4096;
    steps = argc > 2 ? atoi(argv[2]) : 200;
    if (n < 2 * ranks || n % ranks || steps < 1) {
        fprintf(stderr, "jacobi: the cells must be a multiple of the ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    rows = n / ranks;
    must(cudaGetDeviceCount(&gpus), "cudaGetDeviceCount");
    must(cudaSetDevice(rank % gpus), "cudaSetDevice");

    std::vector<float> host((size_t)n * (rows + 2), 0);
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < n; x++)
            host[(size_t)(y + 1) * n + x] = first_value(x, rank * rows + y);
    for (int i = 0; i < 2; i++) {
        must(cudaMalloc(&plane[i], host.size() * 4), "cudaMalloc");
        must(cudaMemcpy(plane[i], host.data(), host.size() * 4,
                        cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    /* copies out of pageable memory may still be under way */
    must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    dim3 block(64, 4), grid((n + 63) / 64, (rows + 3) / 4);
    MPI_Barrier(MPI_COMM_WORLD);
    seconds = MPI_Wtime();
    for (int i = 0; i < steps; i++) {
        exchange(plane[i % 2], n, rows);
        step<<<grid, block>>>(plane[i % 2], plane[(i + 1) % 2], n, rows);
        must(cudaDeviceSynchronize(), "a step");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    seconds = MPI_Wtime() - seconds;
    must(cudaMemcpy(host.data(), plane[steps % 2], host.size() * 4,
                    cudaMemcpyDeviceToHost), "cudaMemcpy");
    if (n <= 512)
        wrong = wrong_cells(host, n, rows, steps);
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (!rank && n > 512)
        printf("jacobi: %d ranks, %d^2 cells: %.2f us a step, not compared\n", ranks,
               n, seconds / steps * 1e6);
    if (!rank && n <= 512)
        printf("jacobi: %d ranks, %d^2 cells: %.2f us a step, %ld cells wrong\n",
               ranks, n, seconds / steps * 1e6, all);
    cudaFree(plane[0]);
    cudaFree(plane[1]);
    MPI_Finalize();
    return all != 0;
}
