/* SPDX-License-Identifier: BSD-3-Clause */
/* Names the kinds of vertices and links, and returns the figures that are
 * assumed for a link without figures, and the units of hwloc's figures. */
#include "topology/topology.h"

static const char *const vertex_names[] = {
#define VERTEX_TEXT(name, text) text,
    NW_VERTEX_KIND_LIST(VERTEX_TEXT)
#undef VERTEX_TEXT
};

static const char *const link_names[] = {
#define LINK_TEXT(name, text) text,
    NW_LINK_KIND_LIST(LINK_TEXT)
#undef LINK_TEXT
};

const char *nw_vertex_kind_name(enum nw_vertex_kind kind)
{
    return vertex_names[kind];
}

const char *nw_link_kind_name(enum nw_link_kind kind)
{
    return link_names[kind];
}

/* Returns the figures of nodewise-topology(5) for a kind of link: those of a
 * current two-socket server and a 100 Gbit/s network, marked as assumed. */
struct nw_link_class nw_link_assumed(enum nw_link_kind kind)
{
    static const struct {
        double bandwidth, latency;
    } figures[NW_LINK_KIND_COUNT] = {
        [NW_LINK_GROUP] = {1.0, 0.0},         [NW_LINK_CORE] = {12e9, 20e-9},
        [NW_LINK_CACHE] = {50e9, 20e-9},      [NW_LINK_MEMORY] = {80e9, 50e-9},
        [NW_LINK_SOCKET] = {40e9, 60e-9},     [NW_LINK_PCIE] = {25e9, 250e-9},
        [NW_LINK_NVLINK] = {50e9, 300e-9},    [NW_LINK_XGMI] = {50e9, 300e-9},
        [NW_LINK_XELINK] = {50e9, 300e-9},    [NW_LINK_NIC] = {12.5e9, 500e-9},
        [NW_LINK_NETWORK] = {12.5e9, 150e-9},
    };

    return (struct nw_link_class){
        .bandwidth = {figures[kind].bandwidth, figures[kind].bandwidth},
        .latency = figures[kind].latency,
        .kind = (uint8_t)kind,
        .assumed = true,
    };
}

/* The rates of NVIDIA's data sheets. GPUs of compute capability 8.6 (GA102)
 * have links of four lanes at 14 GB/s, and 8.9 is taken to have them too. Links
 * have 20 GB/s below 7.0, 50 GB/s from 10.0 on, and 25 GB/s otherwise. */
double nw_nvlink_rate(int32_t capability)
{
    if (capability < 70)
        return 20e9;
    if (capability == 86 || capability == 89)
        return 14e9;
    return capability < 100 ? 25e9 : 50e9;
}

/* hwloc documents MB/s for all matrices. For an Xe Link it writes bitRate /
 * 2^20 (topology-levelzero.c of hwloc 2.9 to 3), and bitRate counts the bits
 * per second of one lane: Intel's driver multiplies it by the number of lanes
 * (fabric_device_iaf.cpp of compute-runtime), which is four. */
double nw_link_hwloc_unit(enum nw_link_kind kind)
{
    return kind == NW_LINK_XELINK ? 4 * 1048576 / 8.0 : 1e6;
}
