# SPDX-License-Identifier: BSD-3-Clause
import os

from spack.package import *
from spack_repo.builtin.build_systems.meson import MesonPackage


class Nodewise(MesonPackage):
    """Nodewise records how an MPI program communicates, reads or measures the
    machine, decides which node, cores and GPU each rank gets, and launches the
    program that way. The program and its MPI stay unmodified."""

    # `meson dist` makes the tarball; Spack takes it from the current folder
    manual_download = True
    url = f"file://{os.getcwd()}/nodewise-0.1.0.tar.xz"

    license("BSD-3-Clause")

    version("0.1.0")

    variant(
        "flavour",
        default="openmpi",
        values=("openmpi", "mpich"),
        multi=False,
        description="MPI under which the preloaded library works",
    )
    variant("scotch", default=True, description="Map by Scotch")
    variant("simgrid", default=False, description="Simulate exchanges by SimGrid")
    variant("netcdf", default=False, description="Read and write NetCDF in nodewise-mpdata")
    variant("otf2", default=False, description="Read traces of Score-P")
    variant("python", default=False, description="Install the Python package")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+simgrid")
    depends_on("meson@1.0.1:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hwloc@2.5:2")
    depends_on("libyaml")
    depends_on("util-linux")
    depends_on("zstd")
    depends_on("libfabric")
    depends_on("openmpi@4.1:", when="flavour=openmpi")
    depends_on("mpich@4.0:", when="flavour=mpich")
    depends_on("scotch@7+int64", when="+scotch")
    depends_on("simgrid@3.32:", when="+simgrid")
    depends_on("netcdf-c", when="+netcdf")
    depends_on("otf2@3:", when="+otf2")
    depends_on("python@3.10:", type=("build", "run"), when="+python")
    depends_on("py-cffi", type=("build", "run"), when="+python")
    depends_on("py-numpy", type=("build", "run"), when="+python")

    def meson_args(self):
        flavour = self.spec.variants["flavour"].value
        enabled = {"openmpi": flavour == "openmpi", "mpich": flavour == "mpich"}
        for name in ("simgrid", "python"):
            enabled[name] = self.spec.satisfies("+" + name)
        return ["-Dtests=disabled"] + [
            f"-D{name}={'enabled' if on else 'disabled'}" for name, on in enabled.items()
        ]

    def setup_run_environment(self, env):
        """Libraries that Nodewise loads when they are first used."""
        names = ["hwloc", "libyaml", "util-linux", "zstd", "libfabric"]
        for variant, name in (("scotch", "scotch"), ("otf2", "otf2"), ("netcdf", "netcdf-c")):
            if self.spec.satisfies("+" + variant):
                names.append(name)
        for name in names:
            env.append_path("LD_LIBRARY_PATH", self.spec[name].prefix.lib)
