/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pattern describes the communication of a program: the number of bytes and
 * messages that rank i sends to rank j, separately for host and GPU buffers. It
 * is stored in compressed rows, so that a million ranks with 26 neighbours each
 * need a few GB.
 */
#ifndef NODEWISE_PATTERN_H
#define NODEWISE_PATTERN_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory of the sender and of the receiver: h is host, g is GPU. */
enum nw_kind { NW_KIND_HH, NW_KIND_GG, NW_KIND_HG, NW_KIND_GH, NW_KIND_COUNT };
/* Returns "hh", "gg", "hg" or "gh". */
NW_API const char *nw_kind_name(enum nw_kind kind);

/* The kind of call that sent the messages of a profile. */
enum nw_origin {
    NW_ORIGIN_POINT_TO_POINT,
    NW_ORIGIN_ONE_SIDED,
    NW_ORIGIN_COLLECTIVE,
    NW_ORIGIN_NCCL,
    NW_ORIGIN_COUNT
};
/* Returns "point-to-point", "one-sided", "collective" or "nccl". */
NW_API const char *nw_origin_name(enum nw_origin origin);
/* A sum of bytes and messages. */
struct nw_pattern_amount {
    uint64_t bytes, messages;
};

/* Time that a profiled program spent in calls: minimum, mean and maximum over
 * the ranks. A rank's time is the sum over its calls. `calls` counts the calls
 * of all ranks. `call` is the name of an MPI function, NW_PATTERN_MPI for all
 * MPI functions together, or NW_PATTERN_RUN for the time from MPI_Init to
 * MPI_Finalize. */
#define NW_PATTERN_MPI "MPI"
#define NW_PATTERN_RUN "run"
struct nw_pattern_time {
    char *call;
    uint64_t calls;
    uint64_t min_ns, mean_ns, max_ns;
};

/* The edges of rank i are row[i] .. row[i + 1] - 1, sorted by dst, then kind.
 * Each (i, dst, kind) occurs once. Edges from a rank to itself are kept. Bytes
 * and messages are totals over the whole run. */
typedef struct nw_pattern {
    int32_t rank_count;
    size_t edge_count;
    size_t *row;        /* [rank_count + 1] */
    int32_t *dst;       /* [edge_count] */
    uint8_t *kind;      /* [edge_count], enum nw_kind */
    uint64_t *bytes;    /* [edge_count] */
    uint64_t *messages; /* [edge_count] */
    uint64_t *weight;   /* [rank_count] amount of computation of each rank, in
                           any unit; NULL: all equal */
    /* Message counts by size, or NULL if not known. Edge e has entries
     * size_row[e] .. size_row[e + 1] - 1, sorted by bucket. Bucket 0 holds
     * empty messages; bucket b holds sizes from 2^(b-1) to 2^b - 1 bytes. */
    size_t *size_row;     /* [edge_count + 1] */
    uint8_t *size_bucket; /* [size_row[edge_count]] */
    uint64_t *size_count; /* [size_row[edge_count]] */
    char *program;        /* profiled command line, or NULL */
    char *partial;        /* why the profile is incomplete, or NULL */
    char *note;           /* origin of the pattern, for people, or NULL */
    /* Only in profiles, otherwise NULL: `traffic` has the sums of bytes and
     * messages by origin [NW_ORIGIN_COUNT]. `time` has `time_count` times of
     * calls, sorted by falling mean. */
    struct nw_pattern_amount *traffic;
    struct nw_pattern_time *time;
    size_t time_count;
    struct nw_pattern_phases *phases; /* result of nw_pattern_find_phases, or
                                         NULL */
} nw_pattern;

NW_API void nw_pattern_free(nw_pattern *pattern); /* NULL is fine */

/* Collects edges in any order. */
typedef struct nw_pattern_builder nw_pattern_builder;

/* rank_count is from 1 to 2^31 - 1. The caller frees the builder with
 * nw_pattern_builder_free. */
NW_API NW_MUST_CHECK nw_status nw_pattern_builder_new(int32_t rank_count,
                                                      nw_pattern_builder **out);
NW_API void nw_pattern_builder_free(nw_pattern_builder *builder);
/* Adds bytes and messages to the edge from src to dst. NW_EINVAL: a rank is out
 * of range. */
NW_API NW_MUST_CHECK nw_status
nw_pattern_builder_add(nw_pattern_builder *builder, int32_t src, int32_t dst,
                       enum nw_kind kind, uint64_t bytes, uint64_t messages);
/* Adds `count` messages to size bucket `bucket` (0 to 64) of an edge. This does
 * not change the edge's message count; nw_pattern_builder_add sets that. */
NW_API NW_MUST_CHECK nw_status nw_pattern_builder_add_size(
    nw_pattern_builder *builder, int32_t src, int32_t dst, enum nw_kind kind,
    int bucket, uint64_t count);
/* Builds the pattern from everything that was added, and sums equal edges.
 * NW_EFORMAT: a sum exceeds 2^64 - 1. The builder is empty afterwards and may
 * be used again. The caller frees *out with nw_pattern_free. */
NW_API NW_MUST_CHECK nw_status
nw_pattern_builder_build(nw_pattern_builder *builder, nw_pattern **out);

/* Options of nw_pattern_read. */
struct nw_pattern_read_options {
    size_t size;
    bool compact;    /* renumber sparse ids of lists from 0 */
    int32_t threads; /* 0: the cores available; 1 inside an MPI process */
};
#define NW_PATTERN_READ_OPTIONS_INIT                                           \
    {                                                                          \
        .size = sizeof(struct nw_pattern_read_options)                         \
    }
/* Reads a pattern input: "PREFIX:FILE", or FILE. Without a prefix, the suffixes
 * .prof and .otf2 give the format; of other files, the format is found by their
 * first line and shape, or else by their suffix; see nodewise-formats(5). The
 * caller frees *out with nw_pattern_free. */
NW_API NW_MUST_CHECK nw_status nw_pattern_read(
    const char *input, const struct nw_pattern_read_options *options,
    nw_pattern **out);

/* Reads a QAPLIB instance. Its first matrix becomes a pattern, which the caller
 * frees with nw_pattern_free. Its second becomes n x n distances, row by row,
 * for nw_topology_from_distances; the caller frees them with free(). */
NW_API NW_MUST_CHECK nw_status nw_qaplib_read(const char *path,
                                              nw_pattern **flow,
                                              double **distances, size_t *n);

/* The phases of a training step. Each phase is the traffic of one kind of
 * process group, for example the tensor-parallel groups. A ring of DATA joins
 * all ranks with the same dense weights; a ring of EXPERT_DATA joins all ranks
 * with the same experts. */
enum nw_phase {
    NW_PHASE_TENSOR,
    NW_PHASE_CONTEXT,
    NW_PHASE_EXPERT,
    NW_PHASE_DATA,
    NW_PHASE_EXPERT_DATA,
    NW_PHASE_PIPELINE,
    NW_PHASE_COUNT
};
/* Returns "tp", "cp", "ep", "dp", "edp" or "pp". */
NW_API const char *nw_phase_name(enum nw_phase phase);
/* Returns the phase's kind of group for people, such as "tensor (tp)". */
NW_API const char *nw_phase_title(enum nw_phase phase);
/* A phase takes rounds[phase] rounds, one after the other. In each round, every
 * edge of pattern[phase] sends one message of its mean size. */
struct nw_pattern_phases {
    bool found; /* false: the pattern is one exchange, without phases */
    nw_pattern *pattern[NW_PHASE_COUNT]; /* NULL: no traffic */
    uint64_t rounds[NW_PHASE_COUNT];
};
/* Finds the phases of a pattern that the specification "training:" generated,
 * or that was recorded from NCCL's calls, or of a file of such a pattern. Other
 * patterns have no phases; (*out)->found is then false. The first call may
 * generate the phases. *out belongs to the pattern, which may not change
 * afterwards. Several threads may call this function at the same time. */
NW_API NW_MUST_CHECK nw_status nw_pattern_find_phases(
    const nw_pattern *pattern, const struct nw_pattern_phases **out);

/* Writes the native format, atomically. A path of "-" is standard output. */
NW_API NW_MUST_CHECK nw_status nw_pattern_write(const nw_pattern *pattern,
                                                const char *path);
/* Writes the format "native", "metis", "mm", "matrix", "list" or "csv". */
NW_API NW_MUST_CHECK nw_status nw_pattern_write_as(const nw_pattern *pattern,
                                                   const char *format,
                                                   const char *path);

/* Generates a pattern from a specification "NAME:key=value,...";
 * nodewise-pattern(1) lists names, keys and formulas. The caller frees *out
 * with nw_pattern_free. */
NW_API NW_MUST_CHECK nw_status nw_pattern_generate(const char *specification,
                                                   nw_pattern **out);

/* Combines two patterns with equal numbers of ranks: all edges of `host` become
 * kind hh and all edges of `gpu` become kind gg. The caller frees *out with
 * nw_pattern_free. */
NW_API NW_MUST_CHECK nw_status nw_pattern_combine(const nw_pattern *host,
                                                  const nw_pattern *gpu,
                                                  nw_pattern **out);

/* Copies the edges of one kind, and the pattern's texts (program, partial,
 * note). The caller frees *out with nw_pattern_free. */
NW_API NW_MUST_CHECK nw_status nw_pattern_select(const nw_pattern *pattern,
                                                 enum nw_kind kind,
                                                 nw_pattern **out);

/* Finds the grid in each kind of edge and makes a pattern of a similar grid
 * with rank_count ranks, which may be more or fewer. *how describes both grids
 * in one sentence. The caller frees *how with free() and *out with
 * nw_pattern_free. NW_EUNSUPPORTED: no grid was found, or none with rank_count
 * ranks is similar. NW_EINVAL: more than 2^32 edges; NW_ENOMEM: more than fit
 * into memory. */
NW_API NW_MUST_CHECK nw_status nw_pattern_scale(const nw_pattern *pattern,
                                                int32_t rank_count,
                                                nw_pattern **out, char **how);

/* Totals of one kind. A sum that would exceed 2^64 - 1 is 2^64 - 1. */
struct nw_pattern_total {
    uint64_t bytes, messages;
    size_t edges;
};
NW_API struct nw_pattern_total nw_pattern_total_of(const nw_pattern *pattern,
                                                   enum nw_kind kind);
#ifndef __cplusplus /* the name is also that of a struct */
NW_API struct nw_pattern_total nw_pattern_total(const nw_pattern *pattern,
                                                enum nw_kind kind);
#endif
/* True if any edge starts or ends in GPU memory. */
NW_API bool nw_pattern_has_gpu(const nw_pattern *pattern);

#ifdef __cplusplus
}
#endif
#endif
