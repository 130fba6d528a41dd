/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the class of each connection and, in a scheme, its method. The class
 * depends on the hardware between the ends (GPU, package, node, network). It
 * also depends on the number of bytes, because a face and a corner may need
 * different methods. Both ends compute classes and methods from the same data,
 * so they get the same result. */
#include "halo/exchange/choose.h"
#include "halo/exchange/yielding_collectives.h"

#include "base/cpus.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>

#define LIGHT 8 /* a connection is light below 1/8 of the heaviest's bytes */
/* seconds that the model adds for an exchange in phases */
#define PHASES 2e-6

int nw_halo_own_package(void)
{
    unsigned long cpus[NW_CPU_WORDS];
    int package = -1, words = nw_cpus_read(0, cpus);

    for (int i = 0; i < words * NW_CPU_WORD; i++) {
        char path[96], *text = NULL;
        size_t length;
        int other;

        if (!nw_cpus_has(cpus, words, i))
            continue;
        snprintf(path, sizeof path,
                 "/sys/devices/system/cpu/cpu%d/topology/physical_package_id",
                 i);
        other = nw_file_read_text(path, &text, &length) ? -1 : atoi(text);
        free(text);
        if (other < 0 || (package >= 0 && package != other))
            return -1;
        package = other;
    }
    return package;
}

/* Returns true if both ends are one rank and the cells stay in its host memory
 * or in one GPU. */
static bool classes_is_alone(const struct nw_halo_connection *connection)
{
    return connection->pair.same_rank &&
           (connection->pair.same_gpu || !connection->halo->gpu_memory);
}

/* Sets `heaviest` to the greatest bytes of a connection of any rank, between
 * two ranks [0] and between two GPUs of one rank [1]. Collective. */
static nw_status classes_weigh(const nw_halo *halo, uint64_t heaviest[2])
{
    uint64_t own[2] = {0, 0};

    for (size_t i = 0; i < halo->connection_count; i++) {
        const struct nw_halo_connection *connection = &halo->connection[i];
        uint64_t *most = &own[connection->pair.same_rank];

        if (!classes_is_alone(connection) && connection->bytes > *most)
            *most = connection->bytes;
    }
    return nw_halo_mpi(
        nw_halo_allreduce(halo->comm, own, heaviest, 2, MPI_UINT64_T, MPI_MAX),
        "compare the bytes of a halo");
}

/* Returns the class of a connection. In enum nw_halo_class, the class *_LIGHT
 * comes directly after that of heavy connections over the same hardware. */
static enum nw_halo_class
classes_of(const struct nw_halo_connection *connection,
           const uint64_t heaviest[2])
{
    const struct nw_halo_pair *pair = &connection->pair;
    const int *package = connection->halo->package_of;
    enum nw_halo_class class = NW_HALO_CLASS_NETWORK;

    if (classes_is_alone(connection))
        return NW_HALO_CLASS_ALONE;
    if (pair->same_rank)
        class = NW_HALO_CLASS_GPUS;
    else if (pair->same_node)
        class = package[pair->from_rank] == package[pair->to_rank]
                    ? NW_HALO_CLASS_PACKAGE
                    : NW_HALO_CLASS_NODE;
    return (enum nw_halo_class)(
        class + (connection->bytes * LIGHT < heaviest[pair->same_rank]));
}

/* Returns the traffic of a connection, from which the model predicts the time
 * of each method. */
static struct nw_halo_traffic
classes_traffic(const struct nw_halo_connection *connection)
{
    const nw_halo *halo = connection->halo;
    const struct nw_halo_pair *pair = &connection->pair;
    struct nw_halo_traffic traffic = {
        .gpu = halo->gpu_memory,
        .same_rank = pair->same_rank,
        .same_node = pair->same_node,
        .same_gpu = pair->same_gpu,
        .path = nw_halo_path_of(halo->paths, pair->from, pair->to),
    };

    for (size_t i = 0; i < connection->count; i++)
        for (int32_t k = 0; k < halo->joined_count; k++)
            nw_halo_traffic_add(&traffic, &connection->transfer[i],
                                halo->field[k].bytes);
    /* 3-D copies must serve the fields of every subset of the quantities */
    for (int32_t k = 0; k < halo->field_count; k++)
        traffic.gaps =
            traffic.gaps || halo->field[k].bytes != halo->field[k].stride;
    return traffic;
}

/* Finds the methods that fit a connection and the model's method, sets the
 * method that the scheme chooses, and adds its predicted time to
 * halo->predicted. Leaves connection->ops NULL if no method fits. */
static void classes_give_method(nw_halo *halo,
                                struct nw_halo_connection *connection)
{
    uint32_t wanted = halo->scheme.methods[connection->class], bits;
    struct nw_halo_traffic traffic = classes_traffic(connection);
    enum nw_halo_method method;

    for (int i = 0; i < NW_HALO_METHOD_COUNT; i++)
        if (halo->methods & NW_HALO_BIT(i) &&
            nw_halo_methods[i]->fits(halo, &connection->pair))
            connection->fits |= NW_HALO_BIT(i);
    if (nw_halo_model_best(connection->fits, &traffic, &method))
        connection->model = NW_HALO_BIT(method);
    bits = wanted & NW_HALO_MODELLED ? connection->model
                                     : wanted & connection->fits;
    bits = bits ? bits : connection->fits;
    if (!bits)
        return;
    connection->ops = nw_halo_methods[__builtin_ctz(bits)];
    halo->predicted += nw_halo_model(connection->ops->id, &traffic);
}

nw_status nw_halo_give_methods(nw_halo *halo)
{
    uint64_t heaviest[2];
    nw_status status = classes_weigh(halo, heaviest);

    halo->predicted = halo->scheme.phased ? PHASES : 0;
    for (size_t i = 0; !status && i < halo->connection_count; i++) {
        struct nw_halo_connection *connection = &halo->connection[i];

        connection->class = classes_of(connection, heaviest);
        classes_give_method(halo, connection);
        if (!connection->ops)
            status = nw_fail(
                NW_EUNSUPPORTED,
                "no allowed method takes a halo from rank %d to rank %d",
                connection->pair.from_rank, connection->pair.to_rank);
    }
    if (status) /* none was opened */
        halo->connection_count = 0;
    return status;
}

nw_status nw_halo_survey(const nw_halo *halo,
                         uint32_t methods[NW_HALO_CLASS_COUNT])
{
    uint32_t own[2][NW_HALO_CLASS_COUNT] = {{0}}, all[2][NW_HALO_CLASS_COUNT];
    int code;

    for (size_t i = 0; i < halo->connection_count; i++) {
        own[0][halo->connection[i].class] |= halo->connection[i].fits;
        own[1][halo->connection[i].class] |= halo->connection[i].model;
    }
    code = nw_halo_allreduce(halo->comm, own, all, 2 * NW_HALO_CLASS_COUNT,
                             MPI_UINT32_T, MPI_BOR);
    for (int i = 0; code == MPI_SUCCESS && i < NW_HALO_CLASS_COUNT; i++)
        methods[i] =
            all[0][i] | (all[1][i] & (all[1][i] - 1) ? NW_HALO_MODELLED : 0);
    return nw_halo_mpi(code, "compare the methods of a halo");
}
