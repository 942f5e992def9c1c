# A recipe for Spack 1.0 or later: copy it to packages/lateral/ of a repository of your own
# (spack repo create).
from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Lateral(CMakePackage):
    """One-sided communication: all of OpenSHMEM 1.6, requests, counting puts, split-phase
    collectives, the one-sided functions of MPI programs, and UCCS, the substrate below them."""

    homepage = "https://github.com/OWNER/lateral"
    git = "https://github.com/OWNER/lateral.git"

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("ucx", default=True, description="Jobs on several nodes, over UCX")
    variant("libfabric", default=False, description="Jobs over Slingshot, EFA and Omni-Path")
    variant("pmix", default=True, description="Start under mpirun, prterun and srun --mpi=pmix")
    variant("mpi", default=False, description="The layer for MPI programs")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build", when="+pmix")
    depends_on("python@3.9:", type="build")
    depends_on("ucx@1.13:", when="+ucx")
    depends_on("libfabric@1.14:", when="+libfabric")
    depends_on("pmix@4:", when="+pmix")
    depends_on("mpi", when="+mpi")

    generator("ninja")
    conflicts("platform=darwin", msg="Lateral needs Linux")
    conflicts("platform=windows", msg="Lateral needs Linux")

    def cmake_args(self):
        args = [
            self.define("LATERAL_TESTS", False),
            self.define("LATERAL_BENCH", False),
            self.define_from_variant("LATERAL_PMIX", "pmix"),
            self.define_from_variant("LATERAL_UCX", "ucx"),
            self.define_from_variant("LATERAL_OFI", "libfabric"),
            self.define("LATERAL_OPENMPI", self.spec.satisfies("+mpi ^[virtuals=mpi] openmpi")),
            self.define("LATERAL_MPICH", self.spec.satisfies("+mpi ^[virtuals=mpi] mpich")),
        ]
        if self.spec.satisfies("+ucx"):
            args.append(self.define("LATERAL_UCX_ROOT", self.spec["ucx"].prefix))
        for name in ("openmpi", "mpich"):
            if self.spec.satisfies(f"+mpi ^[virtuals=mpi] {name}"):
                args.append(self.define(f"LATERAL_{name.upper()}_CC", self.spec["mpi"].mpicc))
        return args

    def setup_run_environment(self, env: EnvironmentModifications) -> None:
        env.set("LATERAL_CC", "cc")
        env.set("LATERAL_CXX", "c++")
