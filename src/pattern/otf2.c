/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads OTF2 traces (Score-P and others) through libotf2, which is loaded at
 * first use. Adds up MPI sends. Collective and one-sided operations are left
 * out; the pattern's note gives their number. */
#include "base/array.h"
#include "base/library.h"
#include "base/status.h"
#include "config.h"
#include "pattern/otf2_helper.h"
#include "pattern/format.h"
#include "pattern/otf2_files.h"

#include <otf2/otf2.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY NW_OTF2_LIBRARY

#define FUNCTION_LIST(X)                                                       \
    X(Error_RegisterCallback)                                                  \
    X(Error_GetDescription)                                                    \
    X(Reader_Open)                                                             \
    X(Reader_Close)                                                            \
    X(Reader_SetSerialCollectiveCallbacks)                                     \
    X(Reader_GetGlobalDefReader)                                               \
    X(Reader_RegisterGlobalDefCallbacks)                                       \
    X(Reader_ReadAllGlobalDefinitions)                                         \
    X(Reader_CloseGlobalDefReader)                                             \
    X(Reader_SelectLocation)                                                   \
    X(Reader_OpenDefFiles)                                                     \
    X(Reader_CloseDefFiles)                                                    \
    X(Reader_GetDefReader)                                                     \
    X(Reader_ReadAllLocalDefinitions)                                          \
    X(Reader_CloseDefReader)                                                   \
    X(Reader_OpenEvtFiles)                                                     \
    X(Reader_CloseEvtFiles)                                                    \
    X(Reader_GetEvtReader)                                                     \
    X(Reader_GetGlobalEvtReader)                                               \
    X(Reader_RegisterGlobalEvtCallbacks)                                       \
    X(Reader_ReadAllGlobalEvents)                                              \
    X(Reader_CloseGlobalEvtReader)                                             \
    X(GlobalDefReaderCallbacks_New)                                            \
    X(GlobalDefReaderCallbacks_Delete)                                         \
    X(GlobalDefReaderCallbacks_SetLocationCallback)                            \
    X(GlobalDefReaderCallbacks_SetGroupCallback)                               \
    X(GlobalDefReaderCallbacks_SetCommCallback)                                \
    X(GlobalEvtReaderCallbacks_New)                                            \
    X(GlobalEvtReaderCallbacks_Delete)                                         \
    X(GlobalEvtReaderCallbacks_SetMpiSendCallback)                             \
    X(GlobalEvtReaderCallbacks_SetMpiIsendCallback)                            \
    X(GlobalEvtReaderCallbacks_SetMpiCollectiveEndCallback)                    \
    X(GlobalEvtReaderCallbacks_SetRmaPutCallback)                              \
    X(GlobalEvtReaderCallbacks_SetRmaGetCallback)

static struct {
#define FUNCTION_FIELD(name) __typeof__(OTF2_##name) *name;
    FUNCTION_LIST(FUNCTION_FIELD)
#undef FUNCTION_FIELD
} otf2;

static const struct nw_symbol symbols[] = {
#define FUNCTION_SYMBOL(name) {"OTF2_" #name, &otf2.name},
    FUNCTION_LIST(FUNCTION_SYMBOL)
#undef FUNCTION_SYMBOL
};

/* A thread of the traced program. `ref` is its number in the trace. */
struct location {
    uint64_t ref;
    uint32_t process; /* number of its location group */
    int32_t rank;     /* rank in MPI_COMM_WORLD; -1: the thread's process is not
                         an MPI rank */
};

/* A group of ranks or locations. */
struct group {
    uint32_t ref;
    uint8_t type;
    size_t count;
    uint64_t *member;
};

/* A communicator and its group. */
struct comm {
    uint32_t ref, group;
};

/* The state of the reader. */
struct trace {
    const char *path;
    OTF2_Reader *reader;
    struct location *location; /* sorted by ref */
    struct group *group;       /* sorted by ref */
    struct comm *comm;         /* sorted by ref */
    size_t locations, groups, comms;
    size_t location_capacity, group_capacity, comm_capacity;
    nw_pattern_builder *builder;
    uint64_t events; /* number of events in the definitions */
    uint64_t left_out;
    nw_status status; /* first failure in a callback */
};

static OTF2_ErrorCode be_silent(void *data, const char *file, uint64_t line,
                                const char *function, OTF2_ErrorCode code,
                                const char *format, va_list args)
{
    (void)data, (void)file, (void)line, (void)function;
    (void)format, (void)args;
    return code;
}

static nw_status otf2_fail(const struct trace *trace, const char *what)
{
    return nw_fail(NW_EFORMAT, "%s: %s", trace->path, what);
}

/* Converts a status to the return value of a callback. The first failure is
 * stored in trace->status. */
static OTF2_CallbackCode otf2_keep(struct trace *trace, nw_status status)
{
    trace->status = status;
    return status ? OTF2_CALLBACK_INTERRUPT : OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode take_location(void *data, OTF2_LocationRef self,
                                       OTF2_StringRef name,
                                       OTF2_LocationType type, uint64_t events,
                                       OTF2_LocationGroupRef process)
{
    struct trace *trace = data;
    nw_status status = nw_grow(&trace->location, &trace->location_capacity,
                               trace->locations + 1, sizeof *trace->location);

    (void)name, (void)type;
    trace->events += events;
    if (!status)
        trace->location[trace->locations++] =
            (struct location){self, process, -1};
    return otf2_keep(trace, status);
}

static OTF2_CallbackCode take_group(void *data, OTF2_GroupRef self,
                                    OTF2_StringRef name, OTF2_GroupType type,
                                    OTF2_Paradigm paradigm,
                                    OTF2_GroupFlag flags, uint32_t count,
                                    const uint64_t *members)
{
    struct trace *trace = data;
    struct group *group;
    nw_status status = NW_OK;

    (void)name, (void)flags;
    if (paradigm != OTF2_PARADIGM_MPI)
        return OTF2_CALLBACK_SUCCESS;
    status = nw_grow(&trace->group, &trace->group_capacity, trace->groups + 1,
                     sizeof *trace->group);
    if (status)
        return otf2_keep(trace, status);
    group = &trace->group[trace->groups];
    *group = (struct group){self, type, count, NULL};
    status = nw_alloc(count, sizeof *group->member, &group->member);
    if (status)
        return otf2_keep(trace, status);
    if (count)
        memcpy(group->member, members, count * sizeof *members);
    trace->groups++;
    return otf2_keep(trace, NW_OK);
}

static OTF2_CallbackCode take_comm(void *data, OTF2_CommRef self,
                                   OTF2_StringRef name, OTF2_GroupRef group,
                                   OTF2_CommRef parent, OTF2_CommFlag flags)
{
    struct trace *trace = data;
    nw_status status = nw_grow(&trace->comm, &trace->comm_capacity,
                               trace->comms + 1, sizeof *trace->comm);

    (void)name, (void)parent, (void)flags;
    if (!status)
        trace->comm[trace->comms++] = (struct comm){self, group};
    return otf2_keep(trace, status);
}

static int compare_locations(const void *a, const void *b)
{
    const struct location *x = a, *y = b;

    return (x->ref > y->ref) - (x->ref < y->ref);
}

static int compare_groups(const void *a, const void *b)
{
    const struct group *x = a, *y = b;

    return (x->ref > y->ref) - (x->ref < y->ref);
}

static int compare_comms(const void *a, const void *b)
{
    const struct comm *x = a, *y = b;

    return (x->ref > y->ref) - (x->ref < y->ref);
}

static struct location *find_location(const struct trace *trace, uint64_t ref)
{
    struct location key = {.ref = ref};

    if (!trace->locations)
        return NULL;
    return bsearch(&key, trace->location, trace->locations, sizeof key,
                   compare_locations);
}

static const struct group *find_group(const struct trace *trace,
                                      uint32_t comm_ref)
{
    struct comm comm = {.ref = comm_ref}, *found = NULL;
    struct group key = {0};

    if (trace->comms && trace->groups)
        found = bsearch(&comm, trace->comm, trace->comms, sizeof comm,
                        compare_comms);
    if (!found)
        return NULL;
    key.ref = found->group;
    return bsearch(&key, trace->group, trace->groups, sizeof key,
                   compare_groups);
}

static const struct group *find_world(const struct trace *trace)
{
    for (size_t i = 0; i < trace->groups; i++)
        if (trace->group[i].type == OTF2_GROUP_TYPE_COMM_LOCATIONS)
            return &trace->group[i];
    return NULL;
}

static int compare_processes(const void *a, const void *b)
{
    const struct location *x = a, *y = b;

    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->rank < y->rank) - (x->rank > y->rank);
}

/* Numbers the ranks: rank i is the i-th location in the group of MPI locations.
 * Other threads of a process get the rank of the process. */
static nw_status number_ranks(struct trace *trace)
{
    const struct group *world = find_world(trace);

    if (!world || !world->count)
        return otf2_fail(trace, "the trace names no MPI ranks");
    if (world->count > INT32_MAX)
        return otf2_fail(trace, "the trace names too many ranks");
    for (size_t i = 0; i < world->count; i++) {
        struct location *found = find_location(trace, world->member[i]);

        if (!found)
            return otf2_fail(trace, "a rank of the trace has no location");
        found->rank = (int32_t)i;
    }
    qsort(trace->location, trace->locations, sizeof *trace->location,
          compare_processes);
    for (size_t i = 1; i < trace->locations; i++)
        if (trace->location[i].rank < 0 &&
            trace->location[i].process == trace->location[i - 1].process)
            trace->location[i].rank = trace->location[i - 1].rank;
    qsort(trace->location, trace->locations, sizeof *trace->location,
          compare_locations);
    return nw_pattern_builder_new((int32_t)world->count, &trace->builder);
}

/* Returns the rank in MPI_COMM_WORLD of rank `rank` of a communicator, or -1 if
 * it has none. `me` is the sender's rank. */
static int64_t world_rank(const struct trace *trace, uint32_t comm,
                          uint32_t rank, int32_t me)
{
    const struct group *group = find_group(trace, comm);

    if (group && group->type == OTF2_GROUP_TYPE_COMM_SELF)
        return me;
    if (!group || rank >= group->count)
        return -1;
    return group->type == OTF2_GROUP_TYPE_COMM_LOCATIONS
               ? (int64_t)rank
               : (int64_t)group->member[rank];
}

/* Adds the name of the trace to the error of a sum that exceeds 64 bits. */
static nw_status otf2_blame(const struct trace *trace, nw_status status)
{
    return status == NW_EFORMAT ? otf2_fail(trace, nw_error_text()) : status;
}

static nw_status add_message(struct trace *trace, uint64_t location,
                             uint32_t comm, uint32_t receiver, uint64_t bytes)
{
    const struct location *from = find_location(trace, location);
    size_t world = find_world(trace)->count;
    int bucket = bytes ? 64 - __builtin_clzll(bytes) : 0;
    int64_t to;
    nw_status status;

    if (!from || from->rank < 0)
        return otf2_fail(trace,
                         "a message of a location that is not an MPI rank");
    to = world_rank(trace, comm, receiver, from->rank);
    if (to < 0 || (uint64_t)to >= world)
        return otf2_fail(trace, "a message to a rank its communicator lacks");
    status = nw_pattern_builder_add(trace->builder, from->rank, (int32_t)to,
                                    NW_KIND_HH, bytes, 1);
    if (!status)
        status = nw_pattern_builder_add_size(
            trace->builder, from->rank, (int32_t)to, NW_KIND_HH, bucket, 1);
    return status ? status : otf2_blame(trace, nw_builder_fold(trace->builder));
}

static OTF2_CallbackCode otf2_take_send(OTF2_LocationRef location,
                                        OTF2_TimeStamp time, void *data,
                                        OTF2_AttributeList *attributes,
                                        uint32_t receiver, OTF2_CommRef comm,
                                        uint32_t tag, uint64_t bytes)
{
    struct trace *trace = data;

    (void)time, (void)attributes, (void)tag;
    return otf2_keep(trace,
                     add_message(trace, location, comm, receiver, bytes));
}

static OTF2_CallbackCode
take_isend(OTF2_LocationRef location, OTF2_TimeStamp time, void *data,
           OTF2_AttributeList *attributes, uint32_t receiver, OTF2_CommRef comm,
           uint32_t tag, uint64_t bytes, uint64_t request)
{
    (void)request;
    return otf2_take_send(location, time, data, attributes, receiver, comm, tag,
                          bytes);
}

static OTF2_CallbackCode count_collective(OTF2_LocationRef location,
                                          OTF2_TimeStamp time, void *data,
                                          OTF2_AttributeList *attributes,
                                          OTF2_CollectiveOp operation,
                                          OTF2_CommRef comm, uint32_t root,
                                          uint64_t sent, uint64_t received)
{
    struct trace *trace = data;

    (void)location, (void)time, (void)attributes, (void)operation;
    (void)comm, (void)root, (void)sent, (void)received;
    trace->left_out++;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode count_rma(OTF2_LocationRef location,
                                   OTF2_TimeStamp time, void *data,
                                   OTF2_AttributeList *attributes,
                                   OTF2_RmaWinRef window, uint32_t remote,
                                   uint64_t bytes, uint64_t matching)
{
    struct trace *trace = data;

    (void)location, (void)time, (void)attributes, (void)window;
    (void)remote, (void)bytes, (void)matching;
    trace->left_out++;
    return OTF2_CALLBACK_SUCCESS;
}

static nw_status otf2_check(const struct trace *trace, OTF2_ErrorCode code)
{
    if (trace->status)
        return trace->status;
    return code ? otf2_fail(trace, otf2.Error_GetDescription(code)) : NW_OK;
}

static nw_status read_definitions(struct trace *trace)
{
    OTF2_GlobalDefReader *reader =
        otf2.Reader_GetGlobalDefReader(trace->reader);
    OTF2_GlobalDefReaderCallbacks *callbacks =
        otf2.GlobalDefReaderCallbacks_New();
    OTF2_ErrorCode code;
    uint64_t count;

    if (!reader || !callbacks) {
        otf2.GlobalDefReaderCallbacks_Delete(callbacks);
        return otf2_fail(trace, "the definitions cannot be read");
    }
    otf2.GlobalDefReaderCallbacks_SetLocationCallback(callbacks, take_location);
    otf2.GlobalDefReaderCallbacks_SetGroupCallback(callbacks, take_group);
    otf2.GlobalDefReaderCallbacks_SetCommCallback(callbacks, take_comm);
    code = otf2.Reader_RegisterGlobalDefCallbacks(trace->reader, reader,
                                                  callbacks, trace);
    otf2.GlobalDefReaderCallbacks_Delete(callbacks);
    if (!code)
        code =
            otf2.Reader_ReadAllGlobalDefinitions(trace->reader, reader, &count);
    otf2.Reader_CloseGlobalDefReader(trace->reader, reader);
    return otf2_check(trace, code);
}

static void sort_definitions(struct trace *trace)
{
    if (trace->locations)
        qsort(trace->location, trace->locations, sizeof *trace->location,
              compare_locations);
    if (trace->groups)
        qsort(trace->group, trace->groups, sizeof *trace->group,
              compare_groups);
    if (trace->comms)
        qsort(trace->comm, trace->comms, sizeof *trace->comm, compare_comms);
}

/* Opens the event files and reads the local definitions, which map numbers in a
 * location's events to global numbers. Not every trace has local definitions.
 */
static nw_status open_locations(struct trace *trace)
{
    nw_status status;
    bool local;

    for (size_t i = 0; i < trace->locations; i++) {
        status = nw_otf2_check_location(trace->path, trace->location[i].ref);
        if (status)
            return status;
        if (otf2.Reader_SelectLocation(trace->reader, trace->location[i].ref))
            return otf2_fail(trace, "a location cannot be selected");
    }
    local = !otf2.Reader_OpenDefFiles(trace->reader);
    if (otf2.Reader_OpenEvtFiles(trace->reader))
        return otf2_fail(trace, "the events cannot be opened");
    for (size_t i = 0; i < trace->locations; i++) {
        uint64_t ref = trace->location[i].ref, count;
        OTF2_DefReader *reader =
            local ? otf2.Reader_GetDefReader(trace->reader, ref) : NULL;
        OTF2_ErrorCode code = OTF2_SUCCESS;

        if (reader) {
            code = otf2.Reader_ReadAllLocalDefinitions(trace->reader, reader,
                                                       &count);
            otf2.Reader_CloseDefReader(trace->reader, reader);
        }
        if (code || !otf2.Reader_GetEvtReader(trace->reader, ref))
            return otf2_fail(trace, "the events of a location cannot be read");
    }
    if (local)
        otf2.Reader_CloseDefFiles(trace->reader);
    return NW_OK;
}

static nw_status read_events(struct trace *trace)
{
    OTF2_GlobalEvtReader *reader =
        otf2.Reader_GetGlobalEvtReader(trace->reader);
    OTF2_GlobalEvtReaderCallbacks *callbacks =
        otf2.GlobalEvtReaderCallbacks_New();
    OTF2_ErrorCode code;
    uint64_t count;

    if (!reader || !callbacks) {
        otf2.GlobalEvtReaderCallbacks_Delete(callbacks);
        return otf2_fail(trace, "the events cannot be read");
    }
    otf2.GlobalEvtReaderCallbacks_SetMpiSendCallback(callbacks, otf2_take_send);
    otf2.GlobalEvtReaderCallbacks_SetMpiIsendCallback(callbacks, take_isend);
    otf2.GlobalEvtReaderCallbacks_SetMpiCollectiveEndCallback(callbacks,
                                                              count_collective);
    otf2.GlobalEvtReaderCallbacks_SetRmaPutCallback(callbacks, count_rma);
    otf2.GlobalEvtReaderCallbacks_SetRmaGetCallback(callbacks, count_rma);
    code = otf2.Reader_RegisterGlobalEvtCallbacks(trace->reader, reader,
                                                  callbacks, trace);
    otf2.GlobalEvtReaderCallbacks_Delete(callbacks);
    if (!code)
        code = otf2.Reader_ReadAllGlobalEvents(trace->reader, reader, &count);
    otf2.Reader_CloseGlobalEvtReader(trace->reader, reader);
    otf2.Reader_CloseEvtFiles(trace->reader);
    if (!code && !trace->status && count < trace->events)
        return otf2_fail(trace, "events are missing from the trace");
    return otf2_check(trace, code);
}

static nw_status read_trace(struct trace *trace, nw_pattern **out)
{
    nw_status status = nw_otf2_check_anchor(trace->path);

    if (status)
        return status;
    trace->reader = otf2.Reader_Open(trace->path);
    if (!trace->reader)
        return otf2_fail(trace, "the OTF2 trace cannot be opened");
    otf2.Reader_SetSerialCollectiveCallbacks(trace->reader);
    status = nw_otf2_check_definitions(trace->path);
    if (!status)
        status = read_definitions(trace);
    sort_definitions(trace);
    if (!status)
        status = number_ranks(trace);
    if (!status)
        status = open_locations(trace);
    if (!status)
        status = read_events(trace);
    if (!status)
        status =
            otf2_blame(trace, nw_pattern_builder_build(trace->builder, out));
    return status;
}

static void free_trace(struct trace *trace)
{
    if (trace->reader)
        otf2.Reader_Close(trace->reader);
    nw_pattern_builder_free(trace->builder);
    for (size_t i = 0; i < trace->groups; i++)
        free(trace->group[i].member);
    free(trace->group);
    free(trace->location);
    free(trace->comm);
}

static nw_status otf2_say_note(const struct trace *trace, nw_pattern *pattern)
{
    struct nw_text note = {0};

    nw_text_add(&note, "OTF2 trace, point-to-point messages");
    if (trace->left_out)
        nw_text_format(&note,
                       "; %llu call%s of collective and one-sided operations "
                       "%s left out",
                       (unsigned long long)trace->left_out,
                       nw_plural(trace->left_out),
                       nw_by_count(trace->left_out, "is", "are"));
    return nw_text_take(&note, &pattern->note);
}

nw_status nw_otf2_read(const char *path, nw_pattern **out)
{
    struct trace trace = {.path = path};
    nw_pattern *pattern = NULL;
    nw_status status =
        nw_library_load(LIBRARY, symbols, sizeof symbols / sizeof *symbols,
                        "to read OTF2 traces");

    if (status)
        return status;
    otf2.Error_RegisterCallback(be_silent, NULL);
    status = read_trace(&trace, &pattern);
    if (!status)
        status = otf2_say_note(&trace, pattern);
    free_trace(&trace);
    if (status)
        nw_pattern_free(pattern);
    else
        *out = pattern;
    return status;
}

nw_status nw_otf2_open(const char *path, nw_pattern **out)
{
    return nw_otf2_helper_open(path, nw_otf2_seconds(path), out);
}
