/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a machine with hwloc, from an XML file, a synthetic string or the
 * computer itself, and reports errors. */
#include "base/array.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/hwloc/parts.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static nw_status set_xml(hwloc_topology_t machine, const char *file)
{
    char *data, *written = NULL;
    size_t length;
    nw_status status = nw_hwloc_xml_read(file, &data, &length, NULL);

    if (status)
        return status;
    status = nw_hwloc_try_xml(file, data, length, &written);
    if (!status && hwloc_topology_set_xmlbuffer(machine, written,
                                                (int)strlen(written) + 1))
        status = nw_fail(NW_EFORMAT, "%s:1: hwloc cannot read this XML", file);
    free(written);
    free(data);
    return status;
}

/* Appends " pu:1" to a synthetic description without hardware threads, since
 * hwloc requires them at the end. Returns hwloc's result, 0 for success. */
static int set_with_threads(hwloc_topology_t machine, const char *what)
{
    struct nw_text text = {0};
    int answer = -1;

    nw_text_format(&text, "%s pu:1", what);
    if (!text.failed)
        answer = hwloc_topology_set_synthetic(machine, text.data);
    nw_text_fini(&text);
    return answer;
}

static nw_status set_synthetic(hwloc_topology_t machine, const char *what)
{
    bool threads;
    nw_status status = nw_hwloc_check_synthetic(what, &threads);

    if (status)
        return status;
    if (threads ? hwloc_topology_set_synthetic(machine, what)
                : set_with_threads(machine, what))
        return nw_fail(NW_EFORMAT,
                       "hwloc: '%s' is not a synthetic machine such as "
                       "'package:2 core:12 pu:1'",
                       what);
    return NW_OK;
}

/* Reads the file of HWLOC_XMLFILE and reports errors in it. hwloc itself would
 * silently ignore a file that it cannot read. */
static nw_status set_xml_variable(hwloc_topology_t machine, const char *file)
{
    char *why = NULL;
    nw_status status = set_xml(machine, file);

    if (!status || nw_strdup(nw_error_text(), &why))
        return status;
    status = nw_fail(status, "%s (HWLOC_XMLFILE)", why);
    free(why);
    return status;
}

static nw_status check_synthetic_variable(void)
{
    const char *what = getenv("HWLOC_SYNTHETIC");
    hwloc_topology_t machine;
    int answer;

    if (!what || !*what)
        return NW_OK;
    if (hwloc_topology_init(&machine))
        return nw_fail(NW_ENODEV, "hwloc does not start");
    answer = hwloc_topology_set_synthetic(machine, what);
    hwloc_topology_destroy(machine);
    return answer ? nw_fail(NW_EINVAL,
                            "HWLOC_SYNTHETIC is not a machine such as "
                            "'package:2 core:12 pu:1': '%s'",
                            what)
                  : NW_OK;
}

/* Configures hwloc for this computer, or for the file of HWLOC_XMLFILE. Fails
 * if this file or HWLOC_SYNTHETIC has an error. OpenCL and X are left out: they
 * start slowly and report nothing that is used here. */
static nw_status set_live(hwloc_topology_t machine)
{
    static const char *const unused[] = {"opencl", "gl"};
    size_t count = sizeof unused / sizeof *unused;
    const char *file = getenv("HWLOC_XMLFILE");
    nw_status status;

    if (file && *file)
        return set_xml_variable(machine, file);
    status = check_synthetic_variable();
    if (status)
        return status;
    for (size_t i = 0; i < count; i++)
        (void)hwloc_topology_set_components(
            machine, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, unused[i]);
    return NW_OK;
}

/* Restricts the machine to the cores that this process is bound to. Devices
 * near other cores are kept. */
static nw_status keep_available(hwloc_topology_t machine)
{
    hwloc_bitmap_t cores = hwloc_bitmap_alloc();
    nw_status status = NW_OK;

    if (!cores)
        return nw_fail(NW_ENOMEM, "out of memory");
    if (!hwloc_get_cpubind(machine, cores, HWLOC_CPUBIND_PROCESS) &&
        !hwloc_bitmap_iszero(cores) &&
        hwloc_topology_restrict(machine, cores, HWLOC_RESTRICT_FLAG_ADAPT_IO))
        status = nw_fail(NW_ENODEV, "live: hwloc cannot leave out the cores "
                                    "this process may not use");
    hwloc_bitmap_free(cores);
    return status;
}

static nw_status open_configure(hwloc_topology_t machine,
                                enum nw_hwloc_from from, const char *what)
{
    if (hwloc_topology_set_io_types_filter(machine,
                                           HWLOC_TYPE_FILTER_KEEP_IMPORTANT))
        return nw_fail(NW_ENODEV, "hwloc cannot list devices");
    if (from == NW_HWLOC_XML)
        return set_xml(machine, what);
    if (from == NW_HWLOC_SYNTHETIC)
        return set_synthetic(machine, what);
    return set_live(machine);
}

static nw_status open_load(hwloc_topology_t machine, enum nw_hwloc_from from,
                           const char *what)
{
    if (!hwloc_topology_load(machine))
        return from == NW_HWLOC_LIVE ? keep_available(machine) : NW_OK;
    if (from == NW_HWLOC_XML)
        return nw_fail(NW_EFORMAT,
                       "%s:1: hwloc can make no machine of this XML", what);
    if (from == NW_HWLOC_SYNTHETIC)
        return nw_fail(NW_EFORMAT, "hwloc cannot read '%s' as a machine", what);
    return nw_fail(NW_ENODEV, "live: hwloc cannot see this machine: %s",
                   strerror(errno));
}

/* Creates an empty hwloc topology and never destroys it: hwloc unloads its
 * plugins with the last topology, and plugins that are unloaded do not free
 * their memory. */
static void keep_plugins(void)
{
    static hwloc_topology_t empty;

    if (hwloc_topology_init(&empty))
        empty = NULL;
}

nw_status nw_hwloc_open(enum nw_hwloc_from from, const char *what,
                        hwloc_topology_t *out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    hwloc_topology_t machine;
    nw_status status = nw_hwloc_load();

    if (status)
        return status;
    pthread_once(&once, keep_plugins);
    if (hwloc_topology_init(&machine))
        return nw_fail(NW_ENODEV, "hwloc does not start");
    status = open_configure(machine, from, what);
    if (!status)
        status = open_load(machine, from, what);
    if (status)
        hwloc_topology_destroy(machine);
    else
        *out = machine;
    return status;
}
