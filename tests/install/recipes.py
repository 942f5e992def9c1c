#!/usr/bin/env python3
"""The recipes of packaging/, followed without the tools that run them: rattler-build's reader renders conda's, whose steps build, install
and test a prefix; what Spack's and Nix's pass to CMake configures, for each set of variants, and CMake knows every option; Meson builds
a project with its wrap.

usage: recipes.py --root=DIR --cmake=PATH conda|spack|nix|meson
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types

UCX = "pypi==1.15.0.post2"


def run(*command, cwd=None, env=None, skip=""):
    print("+", *command, flush=True)
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=env, capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL)
    if done.returncode:
        print(done.stdout[-3000:], done.stderr[-3000:], sep="")
        if skip:
            print("skipped:", skip)
        sys.exit(77 if skip else f"exit status {done.returncode}")
    return done.stdout + done.stderr


def checkout(root, work):
    """What git knows of the tree, as a recipe's source."""
    source = work / "source"
    for name in run("git", "-C", root, "ls-files", "-co", "--exclude-standard").splitlines():
        if (root / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, source / name)
    return source


def ucx_of(options):
    """The UCX that ./dev wheel compiles against, in one folder, as both tools bring it."""
    ucx = options.root / "build" / f"ucx-{UCX}" / "libucx"
    if not ucx.is_dir():
        print("skipped: no UCX of PyPI in build/; ./dev wheel fetches it")
        sys.exit(77)
    return ucx


# rattler-build's own reader, which knows every field; conda-forge gives the standard library of C.
RENDER = """
import rattler_build, sys
text = open(sys.argv[1]).read()
given = rattler_build.VariantConfig.from_yaml("c_stdlib: [sysroot]\\nc_stdlib_version: ['2.28']")
rendered = rattler_build.Stage0Recipe.from_file(sys.argv[1]).render(given, rattler_build.RenderConfig())
assert len(rendered) == 1, rendered
recipe = rendered[0].recipe
recipe = recipe() if callable(recipe) else recipe
wants = recipe.to_dict()["requirements"]
assert recipe.package.name == "lateral" and str(recipe.package.version) == sys.argv[2], recipe.package
assert any(word.startswith("ucx ") for word in wants["host"]) and any(word.startswith("sysroot") for word in wants["build"]), wants
try:
    rattler_build.Stage0Recipe.from_yaml(text.replace("  number: 0", "  numbers: 0"))
except rattler_build.RecipeParseError:
    print("read and rendered")
"""


def read_by_rattler(recipe, version, work):
    """Renders the recipe as rattler-build does; without PyPI a line says that nobody did."""
    run(sys.executable, "-m", "venv", work / "rattler")
    done = subprocess.run([work / "rattler/bin/pip", "install", "-q", "--disable-pip-version-check", "py-rattler-build"],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        print("not read by rattler-build, which PyPI does not give:", done.stderr[-300:])
        return
    said = run(work / "rattler/bin/python", "-c", RENDER, recipe, version, env=os.environ | {"LATERAL_VERSION": version})
    assert said.strip().endswith("read and rendered"), said


def conda(options, work):
    try:
        import yaml
    except ImportError:
        print("skipped: no PyYAML here")
        sys.exit(77)
    recipe = yaml.safe_load((options.root / "packaging/conda/recipe.yaml").read_text(encoding="utf-8"))
    version = run(options.root / "dev", "version").strip()
    assert recipe["context"]["version"] == '${{ env.get("LATERAL_VERSION") }}' and version, recipe["context"]
    read_by_rattler(options.root / "packaging/conda/recipe.yaml", version, work)
    ucx = ucx_of(options)
    source, prefix = checkout(options.root, work), work / "prefix"
    shutil.copytree(ucx, prefix, symlinks=True)
    env = {name: value for name, value in os.environ.items() if not name.startswith(("LATERAL_", "SHMEM_"))} | {"PREFIX": str(prefix)}
    for step in recipe["build"]["script"]:
        run("bash", "-ec", step, cwd=source, env=env)
    assert (prefix / "lib/liblateral-ucx.so").exists() and (source / recipe["about"]["license_file"]).exists()
    test, place = recipe["tests"][0], work / "test"
    for name in test["files"]["source"]:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source / name, place / name)
    for step in test["script"]:
        said = run("bash", "-ec", step, cwd=place, env=env | {"PATH": f"{prefix}/bin:{env['PATH']}"})
    assert said.count("hello from PE") == 2, said


class Spec:
    """As much of a concrete spec as the recipe asks for."""
    def __init__(self, variants, prefixes):
        self.variants, self.prefixes = variants, prefixes

    def satisfies(self, text):
        variant, _, provider = text.partition(" ")
        if variant[1:] not in self.variants or variant[0] not in "+~":
            raise AssertionError(f"the recipe asks for {text}, which is no variant of it")
        return self.variants[variant[1:]] == (variant[0] == "+") and (not provider or provider.split()[-1] in self.prefixes)

    def __getitem__(self, name):
        provider = "openmpi" if name == "mpi" else name
        return types.SimpleNamespace(prefix=self.prefixes[provider], mpicc=shutil.which(f"mpicc.{provider}") or shutil.which("mpicc"))


def load_spack(path):
    """The class of the recipe, its directives noted in its lists."""
    noted = {}

    def directive(name):
        return lambda *args, **more: noted.setdefault(name, []).append((args, more))
    package = types.ModuleType("spack.package")
    for name in ("license", "version", "variant", "depends_on", "conflicts"):
        setattr(package, name, directive(name))
    package.EnvironmentModifications = object
    base = types.ModuleType("base")
    base.CMakePackage = type("CMakePackage", (), {
        "define": lambda self, name, value: f"-D{name}={'ON' if value is True else 'OFF' if value is False else value}",
        "define_from_variant": lambda self, name, variant: self.define(name, self.spec.variants[variant])})
    base.generator = directive("generator")
    sys.modules |= {"spack": types.ModuleType("spack"), "spack.package": package, "spack_repo": base, "spack_repo.builtin": base,
                    "spack_repo.builtin.build_systems": base, "spack_repo.builtin.build_systems.cmake": base}
    space = {}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), space)  # pylint: disable=exec-used
    return space["Lateral"], noted


def spack(options, work):
    recipe, noted = load_spack(options.root / "packaging/spack/package.py")
    variants = {args[0]: more["default"] for args, more in noted["variant"]}
    assert set(variants) == {"ucx", "libfabric", "pmix", "mpi"} and all(more["description"] for _, more in noted["variant"]), variants
    needed = {args[0].split("@")[0] for args, _ in noted["depends_on"]}
    assert {"c", "cxx", "cmake", "ninja", "python", "ucx", "libfabric", "pmix", "mpi"} <= needed, needed
    minimum = re.search(r"cmake_minimum_required\(VERSION ([0-9.]+)", (options.root / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
    assert any(args[0] == f"cmake@{minimum}:" for args, _ in noted["depends_on"]), f"CMakeLists.txt wants CMake {minimum}"
    for number, chosen in enumerate(({"ucx": False, "libfabric": False, "pmix": False, "mpi": False}, {"ucx": True, "libfabric": False, "pmix": True, "mpi": True})):
        package = recipe()
        package.spec = Spec(chosen, {"ucx": ucx_of(options), "openmpi": "/usr"})
        configures(options, work / str(number), package.cmake_args(), chosen["ucx"])


def configures(options, build, arguments, ucx):
    """CMake takes a recipe's arguments, knows each of them, and does as they say."""
    said = run(options.cmake, "-G", "Ninja", "-S", options.root, "-B", build, *arguments, skip="UCX, PMIx or Open MPI is not here" if ucx else "")
    assert "not used" not in said, said[-1500:]
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    assert ("LATERAL_TESTS:BOOL=OFF" in cache) and f"LATERAL_UCX:STRING={'ON' if ucx else 'OFF'}" in cache, "options are lost"


# As much of nixpkgs as the recipe asks for.
NIXPKGS = """
import (/. + "%s") {
  stdenv.mkDerivation = made: made { };
  lib = {
    inherit (builtins) head;
    cleanSource = source: source;
    optional = wanted: one: if wanted then [ one ] else [ ];
    cmakeBool = name: value: "-D${name}:BOOL=${if value then "ON" else "OFF"}";
    cmakeFeature = name: value: "-D${name}:STRING=${value}";
    licenses.bsd3 = "BSD-3-Clause";
    platforms.linux = [ "x86_64-linux" ];
  };
  cmake = "cmake"; ninja = "ninja"; python3 = "python3"; pkg-config = "pkg-config"; pmix = "pmix"; ucx = "ucx"; libfabric = "libfabric";
  withUcx = %s; withPmix = %s;
}
"""


def nix(options, work):
    tool = shutil.which("nix-instantiate")
    if not tool:
        print("skipped: no nix-instantiate here (Debian: nix-bin)")
        sys.exit(77)
    version = run(options.root / "dev", "version").strip()
    for ucx in (False, True):
        word = "true" if ucx else "false"
        done = subprocess.run([tool, "--eval", "--strict", "--json", "--store", work / "store", "--expr",
                               "builtins.removeAttrs (" + NIXPKGS % (options.root / "packaging/nix/package.nix", word, word)
                               + ') [ "src" "installCheckPhase" ]'], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        made = json.loads(done.stdout)
        assert made["version"] == version and ("ucx" in made["buildInputs"]) == ucx, made
        configures(options, work / word, made["cmakeFlags"], ucx)


def meson(options, work):
    """A project with the wrap and its overlay, with the checkout where the wrap would clone to."""
    tools = work / "tools/bin"
    run(sys.executable, "-m", "venv", work / "tools")
    run(tools / "pip", "install", "-q", "--disable-pip-version-check", "meson>=1.3", skip="PyPI does not give Meson")
    project, outside = work / "project", pathlib.Path(__file__).resolve().parent / "outside"
    shutil.copytree(outside / "meson", project)
    shutil.copy(outside / "ring.c", project)
    shutil.copytree(options.root / "packaging/meson", project / "subprojects")
    checkout(options.root, work).rename(project / "subprojects/lateral")
    shutil.copy(options.root / "packaging/meson/packagefiles/lateral/meson.build", project / "subprojects/lateral")
    run(tools / "meson", "setup", "--wrap-mode=forcefallback", work / "build", project)
    run(tools / "meson", "test", "-C", work / "build")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=lambda text: pathlib.Path(text).resolve(), required=True)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("recipe", choices=("conda", "spack", "nix", "meson"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lateral-recipe.") as folder:
        globals()[options.recipe](options, pathlib.Path(folder).resolve())
    print(options.recipe, "holds")


if __name__ == "__main__":
    main()
