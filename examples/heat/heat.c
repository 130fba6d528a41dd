/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Heat in a box, by the 7-point or the 27-point stencil, on CPUs or GPUs:
 * interior cells are computed while ghost cells travel, the shell after them.
 * The answer is compared with a serial run to the last bit and written for
 * ParaView.
 *
 *   mpirun -n 4 heat [-27] [-g] [-n CELLS] [-s STEPS] [-o FILE.vtk] [-b]
 *
 * -g computes on GPUs; -b computes after the exchange instead of during it.
 */
#include "heat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The interior is taken in so many, between which the exchange makes progress.
 */
enum { SLABS = 16 };

_Noreturn void fail(const char *what)
{
    fprintf(stderr, "heat: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static void must(nw_status status)
{
    if (status)
        fail(nw_error_text());
}

/* The user's kernel: any box of cells. */
void step(const struct run *run, const struct nw_halo_box *box, struct field to,
          struct field from)
{
    for (int64_t z = box->low[2]; z < box->high[2]; z++)
        for (int64_t y = box->low[1]; y < box->high[1]; y++)
            for (int64_t x = box->low[0]; x < box->high[0]; x++) {
                const double *u = from.at + z * from.z + y * from.y + x;

                to.at[z * to.z + y * to.y + x] =
                    run->corners ? heat_all(u, from.y, from.z)
                                 : heat_faces(u, from.y, from.z);
            }
}

struct field field_of(const nw_halo *halo, int32_t quantity)
{
    const struct nw_halo_piece *piece = nw_halo_piece_of(halo, 0);
    int64_t y = (int64_t)(nw_halo_pitch(halo, 0, quantity) / sizeof(double));

    return (struct field){nw_halo_base(halo, 0, quantity), y,
                          y * piece->allocated[1]};
}

double *cell(struct field field, const struct nw_halo_piece *piece, int64_t x,
             int64_t y, int64_t z)
{
    return field.at + (z - piece->box.low[2] + 1) * field.z +
           (y - piece->box.low[1] + 1) * field.y + x - piece->box.low[0] + 1;
}

/* --- marching --- */

static void step_here(const struct run *run, const struct nw_halo_box *box,
                      struct field to, struct field from)
{
    if (run->gpu)
        gpu_step(run, box, to, from);
    else
        step(run, box, to, from);
}

/* Slab by slab; a GPU works by itself and takes the whole. */
static void step_inside(const struct run *run, nw_halo *halo, struct field to,
                        struct field from)
{
    struct nw_halo_box inside = nw_halo_interior(halo, 0), slab = inside;
    int64_t planes = inside.high[2] - inside.low[2];
    int slabs = run->gpu || run->blocking ? 1 : SLABS;
    bool done = run->gpu;

    for (int i = 0; i < slabs; i++) {
        slab.low[2] = inside.low[2] + planes * i / slabs;
        slab.high[2] = inside.low[2] + planes * (i + 1) / slabs;
        step_here(run, &slab, to, from);
        if (!done)
            must(nw_halo_test(halo, &done));
    }
}

static void march(const struct run *run, nw_halo *halo)
{
    struct nw_halo_box shell[6];
    int32_t count = nw_halo_shell(halo, 0, shell);

    for (int s = 0; s < run->steps; s++) {
        int32_t now = s & 1;
        struct field from = field_of(halo, now), to = field_of(halo, !now);

        must(nw_halo_start(halo, &now, 1));
        if (!run->blocking)
            step_inside(run, halo, to, from);
        must(nw_halo_wait(halo));
        if (run->blocking)
            step_inside(run, halo, to, from);
        for (int32_t i = 0; i < count; i++)
            step_here(run, &shell[i], to, from);
    }
    if (run->gpu)
        gpu_wait();
}

/* The same steps without an exchange: what of the time is computing. */
static double time_computing(const struct run *run, nw_halo *halo)
{
    struct nw_halo_box shell[6];
    int32_t count = nw_halo_shell(halo, 0, shell);
    struct field from = field_of(halo, run->steps & 1);
    struct field to = field_of(halo, ~run->steps & 1);
    double since = MPI_Wtime(), own, slowest;

    for (int s = 0; s < run->steps; s++) {
        struct nw_halo_box inside = nw_halo_interior(halo, 0);

        step_here(run, &inside, to, from);
        for (int32_t i = 0; i < count; i++)
            step_here(run, &shell[i], to, from);
    }
    if (run->gpu)
        gpu_wait();
    own = MPI_Wtime() - since;
    MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

/* --- the whole --- */

static nw_halo *plan(const struct run *run)
{
    struct nw_halo_quantity both[2] = {{sizeof(double), 0},
                                       {sizeof(double), 0}};
    struct nw_halo_options options = NW_HALO_OPTIONS_INIT;
    nw_halo *halo = NULL;

    for (int axis = 0; axis < 3; axis++)
        options.extent[axis] = run->n;
    nw_halo_radius(&options, 1, run->corners);
    options.quantity = both;
    options.quantity_count = 2;
    if (run->gpu)
        gpu_open(&options);
    must(nw_halo_plan(MPI_COMM_WORLD, &options, &halo));
    return halo;
}

/* The field as the host sees it: itself, or a copy of the GPU's. */
static struct field host_of(const struct run *run, const nw_halo *halo,
                            struct field field)
{
    const struct nw_halo_piece *piece = nw_halo_piece_of(halo, 0);

    if (run->gpu)
        field.at =
            calloc((size_t)(field.z * piece->allocated[2]), sizeof *field.at);
    if (!field.at)
        fail("out of memory");
    return field;
}

static void begin(const struct run *run, const nw_halo *halo)
{
    const struct nw_halo_piece *piece = nw_halo_piece_of(halo, 0);
    struct field field = field_of(halo, 0), host = host_of(run, halo, field);

    FOR_OWN(piece, x, y, z)
    *cell(host, piece, x, y, z) = start_at(x, y, z);
    if (!run->gpu)
        return;
    gpu_put(field, &host, piece->allocated[2]);
    free(host.at);
}

static long finish(const struct run *run, const nw_halo *halo)
{
    const struct nw_halo_piece *piece = nw_halo_piece_of(halo, 0);
    struct field field = field_of(halo, run->steps & 1);
    struct field host = host_of(run, halo, field);
    long wrong;

    if (run->gpu)
        gpu_get(&host, field, piece->allocated[2]);
    wrong = compare(run, piece, host);
    if (run->file && write_vtk(run, piece, host))
        wrong++;
    if (run->gpu)
        free(host.at);
    return wrong;
}

static bool parse(struct run *run, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;

        if (!strcmp(argv[i], "-27"))
            run->corners = true;
        else if (!strcmp(argv[i], "-b"))
            run->blocking = true;
        else if (!strcmp(argv[i], "-g"))
            run->gpu = true;
        else if (!strcmp(argv[i], "-n") && more)
            run->n = atoi(argv[++i]);
        else if (!strcmp(argv[i], "-s") && more)
            run->steps = atoi(argv[++i]);
        else if (!strcmp(argv[i], "-o") && more)
            run->file = argv[++i];
        else
            return false;
    }
    return run->n > 0 && run->n <= 1024 && run->steps >= 0;
}

static int run_all(const struct run *run)
{
    nw_halo *halo = plan(run);
    double seconds, computing;
    long wrong;

    begin(run, halo);
    MPI_Barrier(MPI_COMM_WORLD);
    seconds = MPI_Wtime();
    march(run, halo);
    MPI_Barrier(MPI_COMM_WORLD);
    seconds = MPI_Wtime() - seconds;
    wrong = finish(run, halo);
    computing = time_computing(run, halo);
    if (!run->rank)
        printf("%ld of %lld cells differ from the serial run; %d steps, %.4g "
               "s, %.4g s of computing; %s\n",
               wrong, (long long)(run->n * run->n * run->n), run->steps,
               seconds, computing, nw_halo_words(halo));
    nw_halo_free(halo);
    return wrong != 0;
}

int main(int argc, char **argv)
{
    struct run run = {.n = 48, .steps = 20};
    int failed = 2;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
    if (parse(&run, argc, argv))
        failed = run_all(&run);
    else
        fprintf(stderr,
                "heat [-27] [-g] [-b] [-n CELLS] [-s STEPS] [-o FILE]\n");
    MPI_Finalize();
    return failed;
}
