/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests with a real OTF2 archive that OTF2's own library writes: three ranks,
 * one of them with two threads, and a communicator in reversed order. */
#include "pattern/otf2_helper.h"

#include <otf2/otf2.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define LOCATIONS 4 /* the last is a second thread of rank 0 */

enum { WORLD, SELF, REVERSED };

static char folder[] = "/tmp/nodewise-otf2-XXXXXX";

static OTF2_FlushType flush(void *data, OTF2_FileType type,
                            OTF2_LocationRef location, void *caller, bool final)
{
    (void)data, (void)type, (void)location, (void)caller, (void) final;
    return OTF2_FLUSH;
}

static OTF2_TimeStamp flushed(void *data, OTF2_FileType type,
                              OTF2_LocationRef location)
{
    (void)data, (void)type, (void)location;
    return 0;
}

static OTF2_FlushCallbacks callbacks = {flush, flushed};

static void write_events(OTF2_Archive *archive)
{
    OTF2_EvtWriter *writer[LOCATIONS];

    OTF2_Archive_OpenEvtFiles(archive);
    for (int i = 0; i < LOCATIONS; i++)
        writer[i] = OTF2_Archive_GetEvtWriter(archive, (uint64_t)i);
    OTF2_EvtWriter_MpiSend(writer[0], NULL, 1, 1, WORLD, 7, 100);
    OTF2_EvtWriter_MpiSend(writer[0], NULL, 2, 1, WORLD, 7, 28);
    OTF2_EvtWriter_MpiIsend(writer[3], NULL, 3, 1, WORLD, 7, 1000, 1);
    /* rank 0 of the reversed communicator is rank 2 */
    OTF2_EvtWriter_MpiSend(writer[1], NULL, 4, 0, REVERSED, 7, 5);
    OTF2_EvtWriter_MpiSend(writer[2], NULL, 5, 0, SELF, 7, 0);
    for (int i = 0; i < 3; i++)
        OTF2_EvtWriter_MpiCollectiveEnd(writer[i], NULL, 6,
                                        OTF2_COLLECTIVE_OP_BARRIER, WORLD,
                                        OTF2_UNDEFINED_UINT32, 0, 0);
    for (int i = 0; i < LOCATIONS; i++)
        OTF2_Archive_CloseEvtWriter(archive, writer[i]);
    OTF2_Archive_CloseEvtFiles(archive);
}

static void write_locations(OTF2_Archive *archive, OTF2_GlobalDefWriter *global)
{
    static const uint64_t events[LOCATIONS] = {3, 2, 2, 1};

    OTF2_Archive_OpenDefFiles(archive);
    for (uint64_t i = 0; i < LOCATIONS; i++)
        OTF2_Archive_CloseDefWriter(archive,
                                    OTF2_Archive_GetDefWriter(archive, i));
    OTF2_Archive_CloseDefFiles(archive);
    OTF2_GlobalDefWriter_WriteClockProperties(global, 1000, 0, 10,
                                              OTF2_UNDEFINED_TIMESTAMP);
    OTF2_GlobalDefWriter_WriteString(global, 0, "");
    OTF2_GlobalDefWriter_WriteSystemTreeNode(global, 0, 0, 0,
                                             OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    for (uint32_t i = 0; i < 3; i++)
        OTF2_GlobalDefWriter_WriteLocationGroup(
            global, i, 0, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
            OTF2_UNDEFINED_LOCATION_GROUP);
    for (uint64_t i = 0; i < LOCATIONS; i++)
        OTF2_GlobalDefWriter_WriteLocation(global, i, 0,
                                           OTF2_LOCATION_TYPE_CPU_THREAD,
                                           events[i], (uint32_t)(i % 3));
}

static void write_archive(bool with_ranks)
{
    const uint64_t ranks[] = {0, 1, 2}, reversed[] = {2, 1, 0};
    OTF2_Archive *archive =
        OTF2_Archive_Open(folder, "traces", OTF2_FILEMODE_WRITE, 1 << 20,
                          4 << 20, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    OTF2_GlobalDefWriter *global;

    assert_non_null(archive);
    OTF2_Archive_SetFlushCallbacks(archive, &callbacks, NULL);
    OTF2_Archive_SetSerialCollectiveCallbacks(archive);
    write_events(archive);
    global = OTF2_Archive_GetGlobalDefWriter(archive);
    write_locations(archive, global);
    if (with_ranks)
        OTF2_GlobalDefWriter_WriteGroup(
            global, 0, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
            OTF2_GROUP_FLAG_NONE, 3, ranks);
    OTF2_GlobalDefWriter_WriteGroup(global, 1, 0, OTF2_GROUP_TYPE_COMM_GROUP,
                                    OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 3,
                                    ranks);
    OTF2_GlobalDefWriter_WriteGroup(global, 2, 0, OTF2_GROUP_TYPE_COMM_SELF,
                                    OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 0,
                                    NULL);
    OTF2_GlobalDefWriter_WriteGroup(global, 3, 0, OTF2_GROUP_TYPE_COMM_GROUP,
                                    OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 3,
                                    reversed);
    for (uint32_t i = 0; i < 3; i++)
        OTF2_GlobalDefWriter_WriteComm(global, i, 0, i + 1, OTF2_UNDEFINED_COMM,
                                       OTF2_COMM_FLAG_NONE);
    OTF2_Archive_CloseGlobalDefWriter(archive, global);
    OTF2_Archive_Close(archive);
}

static int make_archive(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int drop_archive(void **state)
{
    char command[128];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void drop_files(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf %s/traces*", folder);
    assert_int_equal(system(command), 0);
}

static void assert_edge(const nw_pattern *p, size_t e, int32_t dst,
                        uint64_t bytes, uint64_t messages)
{
    assert_int_equal(p->dst[e], dst);
    assert_int_equal(p->bytes[e], bytes);
    assert_int_equal(p->messages[e], messages);
    assert_int_equal(p->kind[e], NW_KIND_HH);
}

static void reads_messages_of_all_communicators(void **state)
{
    char path[128];
    nw_pattern *p;

    (void)state;
    write_archive(true);
    snprintf(path, sizeof path, "%s/traces.otf2", folder);
    if (nw_pattern_read(path, NULL, &p))
        fail_msg("%s", nw_error_text());
    assert_int_equal(p->rank_count, 3);
    assert_int_equal(p->edge_count, 3);
    assert_edge(p, 0, 1, 1128, 3);
    assert_edge(p, 1, 2, 5, 1);
    assert_edge(p, 2, 2, 0, 1);
    assert_int_equal(p->row[2], 2);
    assert_int_equal(p->size_row[1], 3);
    assert_int_equal(p->size_bucket[0], 5);
    assert_int_equal(p->size_bucket[1], 7);
    assert_int_equal(p->size_bucket[2], 10);
    assert_non_null(strstr(p->note, "3 calls of collective"));
    nw_pattern_free(p);
    drop_files();
}

static void put_byte(FILE *file, long at, int byte)
{
    fseek(file, at, SEEK_SET);
    fputc(byte, file);
    fflush(file);
    fseek(file, at + 1, SEEK_SET);
}

static void assert_refused(const char *what)
{
    char input[128];
    nw_pattern *p = NULL;

    snprintf(input, sizeof input, "otf2:%s/traces.otf2", folder);
    if (!nw_pattern_read(input, NULL, &p))
        fail_msg("taken, not refused by '%s'", what);
    assert_null(p);
    if (!strstr(nw_error_text(), what))
        fail_msg("'%s' lacks '%s'", nw_error_text(), what);
}

static void refuses_what_is_no_whole_trace(void **state)
{
    char path[128];
    FILE *file;

    (void)state;
    assert_refused("No such file");
    snprintf(path, sizeof path, "%s/traces.otf2", folder);
    file = fopen(path, "w");
    fputs("nodewise pattern 1\n", file);
    fclose(file);
    assert_refused("not an OTF2 trace");
    unlink(path);
    write_archive(false);
    assert_refused("names no MPI ranks");
    drop_files();
    write_archive(true);
    snprintf(path, sizeof path, "%s/traces.def", folder);
    assert_int_equal(truncate(path, 40), 0);
    assert_refused("traces.def: the file of the trace is truncated");
    drop_files();
    write_archive(true);
    snprintf(path, sizeof path, "%s/traces/1.evt", folder);
    assert_int_equal(truncate(path, 40), 0);
    assert_refused("1.evt: the file of the trace is truncated");
    assert_int_equal(unlink(path), 0);
    assert_refused("events");
    drop_files();
}

/* Reading a FIFO waits for a writer, who does not come. */
static void tells_a_limit_from_damage(void **state)
{
    char path[128];
    nw_pattern *p = NULL;

    (void)state;
    snprintf(path, sizeof path, "%s/traces.otf2", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(nw_otf2_helper_open(path, 1, &p), NW_EFORMAT);
    assert_non_null(
        strstr(nw_error_text(), "traces.otf2: not read within 1 s"));
    assert_int_equal(unlink(path), 0);
}

/* Changes bytes of every file, one at a time: the archive must be refused or
 * read, and never cause a crash. */
static void survives_damaged_bytes(void **state)
{
    static const char *const names[] = {"traces.otf2", "traces.def",
                                        "traces/0.evt"};
    char path[128], input[128];

    (void)state;
    write_archive(true);
    snprintf(input, sizeof input, "otf2:%s/traces.otf2", folder);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        FILE *file;
        int byte;

        snprintf(path, sizeof path, "%s/%s", folder, names[n]);
        file = fopen(path, "r+");
        assert_non_null(file);
        for (long at = 0; (byte = fgetc(file)) != EOF; at++) {
            nw_pattern *p = NULL;

            if (at % 5 && !getenv("NW_LONG"))
                continue;
            put_byte(file, at, byte ^ 0xff);
            if (!nw_pattern_read(input, NULL, &p))
                nw_pattern_free(p);
            else
                assert_non_null(strstr(nw_error_text(), folder));
            put_byte(file, at, byte);
        }
        fclose(file);
    }
    drop_files();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_messages_of_all_communicators),
        cmocka_unit_test(refuses_what_is_no_whole_trace),
        cmocka_unit_test(tells_a_limit_from_damage),
        cmocka_unit_test(survives_damaged_bytes),
    };

    return cmocka_run_group_tests(tests, make_archive, drop_archive);
}
