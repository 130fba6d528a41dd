# SPDX-License-Identifier: BSD-3-Clause
"""The options and variables by which the launcher of each MPI library reaches the hosts of
`setup`."""
import functools
import glob
import os
import re
import shutil
import subprocess


@functools.lru_cache()
def version(flavour):
    """The version of the launcher, such as (5, 0); (0, 0) if it is not installed."""
    if not shutil.which("mpiexec." + flavour):
        return (0, 0)
    said = subprocess.run(["mpiexec." + flavour, "--version"], capture_output=True, text=True,
                          check=False).stdout
    found = re.search(r"Version: +(\d+)\.(\d+)|\) (\d+)\.(\d+)", said)
    return tuple(int(n) for n in found.groups() if n) if found else (0, 0)


def options_for_threads(flavour):
    """Options of the launcher for a program of which several threads call MPI. Half the runs
    of such programs hang over the shared memory of Open MPI 6.0.0rc2, also without Nodewise."""
    hangs = flavour == "openmpi" and version(flavour) >= (6, 0)
    return ["--mca", "btl", "self,tcp"] if hangs else []


@functools.lru_cache()
def shares_no_memory(flavour):
    """Whether this MPI puts each rank alone on its node: MPICH from 5.0 on with UCX does."""
    if flavour != "mpich" or version(flavour) < (5, 0):
        return False
    said = subprocess.run(["mpichversion"], capture_output=True, text=True, check=False).stdout
    return "ch4:ucx" in said


def link_standard_abi(flavour, folder):
    """Links libmpi_abi.so.1 of this MPI into the folder, for LD_LIBRARY_PATH; False if it
    has none."""
    found = sorted(glob.glob("/usr/lib/*/libmpi_abi_%s.so.*" % flavour))
    if found:
        os.symlink(found[0], folder + "/libmpi_abi.so.1")
    return bool(found)


def over_hosts(flavour, agent):
    """Its options. Open MPI from 5.0 starts its ranks by PRRTE, which has names of its own."""
    if flavour == "mpich":
        return ["-launcher", "rsh", "-launcher-exec", agent, "-iface", "net0"]
    prrte = version(flavour) >= (5, 0)
    ways = (["--prtemca", "plm_ssh_agent", agent, "--prtemca", "prte_if_include", "net0"] if prrte else
            ["--mca", "plm_rsh_agent", agent, "--mca", "oob_tcp_if_include", "net0"])
    return [*ways, "--mca", "pml", "ob1", "--mca", "btl", "tcp,%s,self" % ("sm" if prrte else "vader"),
            "--mca", "btl_tcp_if_include", "net0"]
