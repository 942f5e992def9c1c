"""What ./dev mutants and ./dev reach share: a copy of the tree, its builds, and a cage in which its tests run."""
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

import schemata

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOME = ROOT / "build/mutants"
TREE = HOME / "tree"
HEADER_FILE, NUMBER_FILE = HOME / "fault_on.h", HOME / "fault_on"     # see schemata.py
CAGE = ["unshare", "-m", "-p", "-f", "--kill-child", "--mount-proc"]
LEFT_OUT = {"soak", "again", "packages", "slurm", "rules", "man", "install"}


def say(text):
    print("dev:", text, flush=True)


def fail(text):
    sys.exit(f"dev: {pathlib.Path(sys.argv[0]).stem}: {text}")


def names_of_checkout():
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True,
                           text=True, check=True).stdout.split("\0")
    return {name for name in filter(None, names) if (ROOT / name).is_file()}


def drop_gone():
    """Takes files out of the copy that the checkout no longer has."""
    names = names_of_checkout()
    for top in {name.split("/")[0] for name in names if "/" in name}:
        for file in (TREE / top).rglob("*"):
            if file.is_file() and str(file.relative_to(TREE)) not in names and file.suffix != ".pyc":
                file.unlink()


def copy_tree(changed=()):
    """Brings the copy to what the checkout holds, but for the files of which it is given another text: {path: text}. A file that is
    the same keeps its time, so that little is built."""
    for name in names_of_checkout():
        source, target = ROOT / name, TREE / name
        data = changed[name].encode() if name in changed else source.read_bytes()
        if not target.exists() or target.read_bytes() != data:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            target.chmod(source.stat().st_mode)


class Build:
    """The copy as one preset builds it, with faults that lie in it all at once, each of them off: its tests by name."""

    def __init__(self, preset, faults=()):
        self.preset, self.folder = preset, TREE / "build" / preset
        if TREE.exists():
            drop_gone()
        else:
            copy_tree()
        self.run("cmake", "--preset", preset, "-DLATERAL_BENCH=OFF", "-DLATERAL_WERROR=OFF", "-DCMAKE_LINK_DEPENDS_NO_SHARED=ON")
        self.run("ninja", "-C", str(self.folder), "generated/stamp")
        self.commands = self.all_commands()
        self.numbers = self.put_in(faults)
        self.run("ninja", "-C", str(self.folder), "-j", str(os.cpu_count()))
        self.tests = self.all_tests()

    def run(self, *command):
        done = subprocess.run(command, cwd=TREE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
        if done.returncode != 0:
            fail(f"the copy in {TREE} does not build as {self.preset}:\n{done.stdout[-3000:]}")

    def all_commands(self):
        """{file: the compiler's command lines for it, without what they write}; a header is compiled as its folder's first file is."""
        commands = collections.defaultdict(list)
        for entry in json.loads((self.folder / "compile_commands.json").read_text()):
            words = shlex.split(entry["command"])
            commands[entry["file"]].append(words[:words.index("-o")])
        return commands

    def commands_of(self, path):
        if str(TREE / path) in self.commands:
            return self.commands[str(TREE / path)]
        near = sorted(self.commands, key=lambda file: (-len(os.path.commonpath([file, TREE / path])), file))
        return self.commands[near[0]]

    def put_in(self, faults):
        """Brings the copy to what the checkout holds, with the faults in its files. Returns {fault: its number}, without those that
        the compiler refuses."""
        header = schemata.HEADER % NUMBER_FILE
        if not HEADER_FILE.exists() or HEADER_FILE.read_text() != header:
            HEADER_FILE.write_text(header, encoding="utf-8")
        NUMBER_FILE.write_text("0", encoding="utf-8")
        by_path = collections.defaultdict(dict)
        for number, fault in enumerate(faults, 1):
            by_path[fault.path][number] = fault
        sources = [schemata.Source(path, (ROOT / path).read_text(encoding="utf-8"), mine) for path, mine in by_path.items()]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(self.settle, sources))
        self.texts = {source.path: source.text for source in sources}      # the checkout may change meanwhile
        copy_tree({source.path: source.written(HEADER_FILE) for source in sources})
        return {fault: number for source in sources for number, fault in source.faults.items()}

    def settle(self, source):
        """Takes those faults away that do not compile. Where this file stood like this in an earlier call, it is known which."""
        asked = source.checkable(HEADER_FILE) + repr(self.commands_of(source.path))
        known = HOME / "refused" / hashlib.sha256(asked.encode()).hexdigest()
        if known.exists():
            source.drop(json.loads(known.read_text()))
            return
        before = set(source.faults)
        self.drop_refused(source)
        known.parent.mkdir(exist_ok=True)
        known.write_text(json.dumps(sorted(before - source.faults.keys())))

    def drop_refused(self, source):
        beside = TREE / source.path
        beside = beside.with_name(f".fault.{beside.name}")
        for command in self.commands_of(source.path):
            gone = True
            while gone:
                beside.write_text(source.checkable(HEADER_FILE), encoding="utf-8")
                words = subprocess.run([*command, "-fsyntax-only", "-x", "c", beside], cwd=self.folder, capture_output=True, text=True, errors="replace", check=False).stderr
                gone = source.refused(HEADER_FILE, str(beside), words)
                source.drop(gone)
        beside.unlink()

    def changes(self, fault):
        """Returns whether the fault changes an instruction of its file."""
        text = self.texts[fault.path]
        beside, made = (TREE / fault.path).with_name(f".fault.{self.numbers[fault]}"), []
        with tempfile.NamedTemporaryFile(suffix=".o") as made_file:
            for version in (text, fault.apply(text)):
                beside.write_text(version, encoding="utf-8")
                for command in self.commands_of(fault.path):
                    subprocess.run([*command, "-w", "-g0", "-fkeep-inline-functions", "-x", "c", "-c", beside, "-o", made_file.name], cwd=self.folder, check=True)
                    made.append(pathlib.Path(made_file.name).read_bytes())
        beside.unlink()
        return made[:len(made) // 2] != made[len(made) // 2:]

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


def in_cage(tests, stop=True, seconds=None, fault=None, number=0, lanes=2):
    """Runs tests in namespaces of their own until one names the fault (stop), or the time is over, or to the end; the fault with this
    number is on; so many tests run at once. Returns their results."""
    with tempfile.TemporaryDirectory(prefix="mutants.") as folder:
        plan, results, on = (pathlib.Path(folder, name) for name in ("plan", "results", "on"))
        on.write_text(str(number), encoding="utf-8")
        plan.write_text(json.dumps({"tests": tests, "stop": stop, "seconds": seconds, "results": str(results), "lanes": lanes,
                                    "mounts": [(str(on), str(NUMBER_FILE))] if NUMBER_FILE.exists() else [],
                                    "place": fault and [pathlib.Path(fault.path).name, fault.line]}))
        done = subprocess.run([*CAGE, sys.executable, "-B", ROOT / "tools/dev/mutants_cage.py", plan], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, errors="replace", check=False)
        if not results.exists():
            fail(f"no namespace for the tests: {done.stderr.strip()[-500:]}")
        return [json.loads(line) for line in results.read_text().splitlines()]
