/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the operations on AMD GPUs with the test double of the HIP runtime. */
#include "gpu/gpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 4096, ROW = 24, ROW_IN_GPU = 64, ROWS = 5, PLANES = 3 };

static const struct nw_gpu *gpu = &nw_gpu_hip;
static nw_gpu_stream stream;

/* Returns the last error of this thread, as a program asks for it. */
static int last_error(void)
{
    int (*get)(void) = NULL;

    *(void **)&get =
        dlsym(dlopen("libamdhip64.so.6", RTLD_NOW), "hipGetLastError");
    assert_non_null(get);
    return get();
}

static int hip_start(void **state)
{
    int32_t count = 0;

    (void)state;
    return gpu->open(&count) || count != 2 || gpu->select(0) ||
           gpu->stream_new(&stream);
}

static int hip_stop(void **state)
{
    (void)state;
    gpu->stream_free(stream);
    return 0;
}

static void fill(char *memory, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        memory[i] = (char)(7 * i + i / 256);
}

static void *memory_of(size_t bytes)
{
    void *memory = NULL;

    assert_int_equal(gpu->alloc(bytes, &memory), NW_OK);
    return memory;
}

static void gpus_are_found(void **state)
{
    const struct nw_gpu *found = NULL;
    struct nw_gpu_properties properties;
    int32_t count = 0;
    void *context;

    (void)state;
    assert_int_equal(nw_gpu_open(&found, &count), NW_OK);
    assert_ptr_equal(found, gpu);
    assert_int_equal(count, 2);
    assert_int_equal(gpu->properties(1, &properties), NW_OK);
    assert_string_equal(properties.name, "AMD Instinct 1");
    assert_string_equal(properties.pci_id, "0000:c1:00.0");
    assert_true(properties.memory == (uint64_t)2 << 36);
    assert_int_equal(gpu->select(2), NW_ECUDA);
    assert_int_equal(gpu->select(1), NW_OK);
    context = gpu->context();
    assert_int_equal(gpu->select(0), NW_OK);
    gpu->restore(context);
    assert_ptr_equal(gpu->context(), context);
    assert_int_equal(gpu->select(0), NW_OK);
    (void)last_error();
}

/* Versions of HIP number the kinds of memory differently. */
static void memory_is_told_apart(void **state)
{
    static const char *const versions[] = {"6", "5", "7"};
    int32_t count, whose;

    (void)state;
    assert_int_equal(gpu->select(1), NW_OK);
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        void *memory = memory_of(BYTES), *pinned = NULL;

        setenv("FAKE_HIP_VERSION", versions[i], 1);
        assert_int_equal(gpu->open(&count), NW_OK);
        assert_int_equal(gpu->alloc_pinned(BYTES, &pinned), NW_OK);
        assert_true(gpu->holds((char *)memory + BYTES - 1, &whose));
        assert_int_equal(whose, 1);
        assert_false(gpu->holds(pinned, &whose));
        assert_int_equal(whose, -1);
        assert_false(gpu->holds(&count, NULL));
        gpu->free_pinned(pinned);
        gpu->free(memory);
    }
    unsetenv("FAKE_HIP_VERSION");
    assert_int_equal(gpu->open(&count), NW_OK);
    assert_int_equal(gpu->select(0), NW_OK);
    assert_int_equal(last_error(), 0);
}

static void memory_runs_out(void **state)
{
    void *memory = NULL;

    (void)state;
    assert_int_equal(gpu->alloc(SIZE_MAX / 2, &memory), NW_ENOMEM);
    gpu->free(NULL);
    gpu->drop(memory_of(0));
    (void)last_error();
}

static void bytes_are_copied(void **state)
{
    char sent[BYTES], came[BYTES], *memory = memory_of(BYTES);
    void *other = memory_of(BYTES);

    (void)state;
    fill(sent, BYTES);
    assert_int_equal(gpu->copy_in(memory, sent, BYTES), NW_OK);
    assert_int_equal(gpu->copy(other, memory, BYTES, stream), NW_OK);
    assert_int_equal(gpu->stream_wait(stream), NW_OK);
    assert_int_equal(gpu->copy_out(came, other, BYTES), NW_OK);
    assert_memory_equal(sent, came, BYTES);
    assert_int_equal(gpu->fill(memory, 5, BYTES, stream), NW_OK);
    assert_int_equal(gpu->copy_out(came, memory, 1), NW_OK);
    assert_int_equal(came[0], 5);
    assert_int_equal(gpu->copy_in(sent, sent, BYTES), NW_ECUDA);
    gpu->free(memory);
    gpu->free(other);
    (void)last_error();
}

static void boxes_are_copied(void **state)
{
    enum { PLANE = ROW * ROWS, PLANE_IN_GPU = ROW_IN_GPU * (ROWS + 2) };
    char sent[PLANE * PLANES], came[PLANE_IN_GPU * PLANES];
    char *memory = memory_of(sizeof came);
    struct nw_gpu_copy copy = {.to = memory,
                               .from = sent,
                               .row_bytes = ROW,
                               .rows = ROWS,
                               .planes = PLANES,
                               .to_row = ROW_IN_GPU,
                               .to_plane = PLANE_IN_GPU,
                               .from_row = ROW,
                               .from_plane = PLANE};

    (void)state;
    fill(sent, sizeof sent);
    assert_int_equal(gpu->fill(memory, 0, sizeof came, stream), NW_OK);
    assert_int_equal(gpu->copy_box(&copy, stream), NW_OK);
    assert_int_equal(gpu->stream_wait(stream), NW_OK);
    assert_int_equal(gpu->copy_out(came, memory, sizeof came), NW_OK);
    for (int z = 0; z < PLANES; z++)
        for (int y = 0; y < ROWS; y++)
            assert_memory_equal(came + z * PLANE_IN_GPU + y * ROW_IN_GPU,
                                sent + z * PLANE + y * ROW, ROW);
    copy.rows = copy.planes = 1;
    copy.to_row = copy.to_plane = (size_t)3 << 30;
    assert_int_equal(gpu->copy_box(&copy, stream), NW_OK);
    copy.rows = 2;
    copy.to_row = ROW - 1;
    assert_int_equal(gpu->copy_box(&copy, stream), NW_ECUDA);
    gpu->free(memory);
    (void)last_error();
}

/* Errors that are no errors must not remain for hipGetLastError. */
static void streams_and_events(void **state)
{
    void *memory = memory_of(BYTES);
    nw_gpu_event event = NULL;
    bool done = true;

    (void)state;
    assert_int_equal(gpu->event_new(&event), NW_OK);
    assert_int_equal(gpu->fill(memory, 1, BYTES, stream), NW_OK);
    assert_int_equal(gpu->event_record(event, stream), NW_OK);
    assert_int_equal(gpu->event_join(event, stream), NW_OK);
    assert_int_equal(gpu->stream_test(stream, &done), NW_OK);
    assert_false(done);
    assert_int_equal(gpu->stream_test(stream, &done), NW_OK);
    assert_true(done);
    assert_int_equal(gpu->event_test(event, &done), NW_OK);
    assert_false(done);
    assert_int_equal(gpu->event_test(event, &done), NW_OK);
    assert_true(done);
    assert_true(gpu->can_access_peer(0, 1));
    assert_int_equal(gpu->enable_peer_access(1), NW_OK);
    assert_int_equal(gpu->enable_peer_access(1), NW_OK);
    assert_int_equal(last_error(), 0);
    gpu->event_free(event);
    gpu->free(memory);
}

static void graphs(void **state)
{
    char *memory = memory_of(BYTES), came = 0;
    nw_gpu_graph graph = NULL;

    (void)state;
    assert_int_equal(gpu->fill(memory, 1, BYTES, stream), NW_OK);
    assert_int_equal(gpu->graph_begin(stream), NW_OK);
    assert_int_equal(gpu->fill(memory, 2, 1, stream), NW_OK);
    assert_int_equal(gpu->copy(memory + 1, memory, 1, stream), NW_OK);
    assert_int_equal(gpu->graph_end(stream, &graph), NW_OK);
    assert_int_equal(gpu->copy_out(&came, memory + 1, 1), NW_OK);
    assert_int_equal(came, 1);
    assert_int_equal(gpu->graph_launch(graph, stream), NW_OK);
    assert_int_equal(gpu->stream_wait(stream), NW_OK);
    assert_int_equal(gpu->copy_out(&came, memory + 1, 1), NW_OK);
    assert_int_equal(came, 2);
    gpu->graph_free(graph);
    gpu->free(memory);
    assert_int_equal(gpu->load("nw_pack_1"), NW_EUNSUPPORTED);
    assert_int_equal(gpu->launch("nw_pack_1", 1, NULL, stream),
                     NW_EUNSUPPORTED);
}

static void memory_is_shared(void **state)
{
    char *memory = memory_of(BYTES);
    struct nw_gpu_handle handle;
    nw_gpu_event event = NULL, theirs = NULL;
    void *opened = NULL;
    size_t offset = 0;

    (void)state;
    assert_int_equal(gpu->memory_export(memory + 100, &handle, &offset), NW_OK);
    assert_int_equal(offset, 100);
    assert_int_equal(gpu->memory_import(&handle, &opened), NW_OK);
    assert_ptr_equal(opened, memory);
    gpu->memory_close(opened);
    assert_int_equal(gpu->event_new_shared(&event), NW_OK);
    assert_int_equal(gpu->event_export(event, &handle), NW_OK);
    assert_int_equal(gpu->event_import(&handle, &theirs), NW_OK);
    gpu->event_free(theirs);
    gpu->event_free(event);
    gpu->free(memory);
    assert_int_equal(last_error(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpus_are_found),
        cmocka_unit_test(memory_is_told_apart),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(bytes_are_copied),
        cmocka_unit_test(boxes_are_copied),
        cmocka_unit_test(streams_and_events),
        cmocka_unit_test(graphs),
        cmocka_unit_test(memory_is_shared),
    };

    return cmocka_run_group_tests(tests, hip_start, hip_stop);
}
