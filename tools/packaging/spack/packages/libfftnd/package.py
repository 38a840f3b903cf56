# SPDX-License-Identifier: BSD-3-Clause
"""libredist and libfftnd, from the repository that this file is in:

    spack repo add tools/packaging/spack
    spack install libfftnd +fortran
"""
import os

from spack.package import *


class Libfftnd(MesonPackage, CudaPackage):
    """Moves N-dimensional arrays between distributions over MPI, and transforms them on the way: distributed FFTs of
    any dimension over process grids of any dimension."""

    git = "file://" + os.path.abspath(os.path.join(os.path.dirname(__file__), "../../../../.."))

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("fortran", default=True, description="Fortran modules redist and fftnd")
    variant("nccl", default=False, when="+cuda", description="method nccl")
    variant("tools", default=True, description="redist-bench, fftnd-bench and fftnd-study")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("meson@1:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3:", type="build", when="+fortran")
    depends_on("mpi")
    depends_on("fftw@3.3: precision=double,float,long_double ~mpi")
    depends_on("hwloc")
    depends_on("xxhash", type="build")
    depends_on("cjson", when="+tools")
    depends_on("nccl", when="+nccl")

    def meson_args(self):
        def feature(name, variant):
            return f"-D{name}={'enabled' if self.spec.satisfies(variant) else 'disabled'}"

        return [
            "-Dmpi=compiler",
            "-Dexamples=false",
            "-Dtests=false",
            "-Dfftw_mpi=disabled",
            f"-Dbenchmarks={'true' if self.spec.satisfies('+tools') else 'false'}",
            feature("fortran", "+fortran"),
            feature("cuda", "+cuda"),
            feature("nccl", "+nccl"),
        ]

    def setup_build_environment(self, env):
        # The compiler wrappers bring MPI, also its Fortran modules
        mpi = self.spec["mpi"]
        env.set("CC", mpi.mpicc)
        if self.spec.satisfies("+fortran"):
            env.set("FC", mpi.mpifc)
