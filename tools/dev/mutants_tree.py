"""What ./dev mutants and ./dev reach share: a copy of the tree, its builds, and a cage in which its tests run."""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOME = ROOT / "build/mutants"
TREE = HOME / "tree"
PRODUCTS = ("bin", "lib", "tests")
CAGE = ["unshare", "-m", "-p", "-f", "--kill-child", "--mount-proc"]
LEFT_OUT = {"soak", "again", "packages", "slurm", "rules", "man", "install"}


def say(text):
    print("dev:", text, flush=True)


def fail(text):
    sys.exit(f"dev: {pathlib.Path(sys.argv[0]).stem}: {text}")


def copy_tree():
    """Brings the copy to what the checkout holds; a file that is the same keeps its time, so that little is built."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True,
                           text=True, check=True).stdout.split("\0")
    for name in filter(None, names):
        source, target = ROOT / name, TREE / name
        if not source.is_file():
            target.unlink(missing_ok=True)
            continue
        data = source.read_bytes()
        if not target.exists() or target.read_bytes() != data:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            target.chmod(source.stat().st_mode)


def shell(*command):
    done = subprocess.run(command, cwd=TREE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    return done.returncode, done.stdout


class Build:
    """The copy as one preset builds it: its tests by name, and what the tree without a fault has made."""

    def __init__(self, preset):
        self.preset, self.folder, self.clean = preset, TREE / "build" / preset, HOME / "clean" / preset
        status, words = shell("cmake", "--preset", preset, "-DLATERAL_BENCH=OFF", "-DLATERAL_WERROR=OFF", "-DCMAKE_LINK_DEPENDS_NO_SHARED=ON")
        built, more = self.make(["all"]) if status == 0 else (False, "")
        if not built:
            fail(f"the copy in {TREE} does not build as {preset}:\n{(words + more)[-3000:]}")
        shutil.rmtree(self.clean, ignore_errors=True)
        for name in PRODUCTS:
            shutil.copytree(self.folder / name, self.clean / name, symlinks=True)
        targets = subprocess.run(["ninja", "-C", self.folder, "-t", "targets", "all"], capture_output=True, text=True, check=True).stdout
        self.linked = [line.split(":")[0] for line in targets.splitlines() if "_LINKER__" in line]
        self.tests = self.all_tests()

    def make(self, targets):
        """Returns whether these targets of the copy build, and the compiler's words."""
        status, words = shell("ninja", "-C", str(self.folder), "-j", str(os.cpu_count()), *targets)
        return status == 0, words

    def installed(self):
        """The targets that are not tests."""
        return [name for name in self.linked if name.startswith(("bin/", "lib/"))]

    def programs(self, tests):
        """The targets that the commands of these tests name."""
        words = {word.rpartition("=")[2] for test in tests for word in test["command"]}
        return [name for name in self.linked if str(self.folder / name) in words]

    def products(self):
        return sorted(path for folder in ("bin", "lib") for path in (self.folder / folder).iterdir()
                      if path.is_file() and not path.is_symlink() and (path.suffix == ".so" or ".so." in path.name or path.name == "oshrun"))

    def fingerprint(self):
        """Of the instructions and data of what is installed, without what debuggers read."""
        hashed = hashlib.sha256()
        with tempfile.NamedTemporaryFile() as bare:
            for path in self.products():
                subprocess.run(["objcopy", "-g", "-R", ".note.gnu.build-id", path, bare.name], check=True)
                hashed.update(pathlib.Path(bare.name).read_bytes())
        return hashed.hexdigest()

    def all_tests(self):
        text = subprocess.run(["ctest", "--test-dir", self.folder, "--show-only=json-v1"], capture_output=True, text=True, check=True).stdout
        tests = {}
        for test in json.loads(text)["tests"]:
            about = {item["name"]: item["value"] for item in test.get("properties", ())}
            judged = about.keys() & {"PASS_REGULAR_EXPRESSION", "WILL_FAIL"}    # by more than the exit status
            if "command" not in test or judged or LEFT_OUT & set(about.get("LABELS", ())):
                continue
            name = test["name"].rpartition(":")[2]                          # the sanitizers' builds put their name before it
            tests[name] = {"name": name, "command": test["command"], "folder": about.get("WORKING_DIRECTORY", str(self.folder)),
                           "env": dict(word.split("=", 1) for word in about.get("ENVIRONMENT", ())), "pes": int(about.get("PROCESSORS", 1)),
                           "build": self.preset}
        return tests

    def called(self, name):
        """The test's name in a result."""
        return name if self.preset == "release" else f"{self.preset}:{name}"


def in_cage(tests, stop=True, seconds=None, clean=None, fault=None):
    """Runs tests in namespaces of their own until one names the fault (stop), or the time is over, or to the end. `clean`: the build
    whose products without the fault they see. Returns their results."""
    with tempfile.TemporaryDirectory(prefix="mutants.") as folder:
        plan, results = pathlib.Path(folder, "plan"), pathlib.Path(folder, "results")
        mounts = [(str(clean.clean / name), str(clean.folder / name)) for name in PRODUCTS] if clean else []
        plan.write_text(json.dumps({"tests": tests, "stop": stop, "seconds": seconds, "results": str(results), "mounts": mounts,
                                    "place": fault and [pathlib.Path(fault.path).name, fault.line]}))
        done = subprocess.run([*CAGE, sys.executable, "-B", ROOT / "tools/dev/mutants_cage.py", plan], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", check=False)
        if not results.exists():
            fail(f"no namespace for the tests: {done.stderr.strip()[-500:]}")
        return [json.loads(line) for line in results.read_text().splitlines()]
