/* SPDX-License-Identifier: BSD-3-Clause */
/* All of the library that needs no MPI. */
#ifndef NODEWISE_NODEWISE_H
#define NODEWISE_NODEWISE_H

#include <nodewise/cost.h>
#include <nodewise/gpu.h>
#include <nodewise/halo.h>
#include <nodewise/launch.h>
#include <nodewise/map.h>
#include <nodewise/mapping.h>
#include <nodewise/pattern.h>
#include <nodewise/probe.h>
#include <nodewise/profile.h>
#include <nodewise/progress.h>
#include <nodewise/report.h>
#include <nodewise/simulate.h>
#include <nodewise/status.h>
#include <nodewise/topology.h>

#endif
