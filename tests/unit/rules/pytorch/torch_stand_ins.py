"""Makes an ordinary build of PyTorch loadable without CUDA's libraries, which are five times its size and are not called
on the CPU: beside PyTorch's own libraries it puts an empty one of each missing name, with the symbol versions that are
asked for, and one that defines every missing symbol as a function returning 0. Does nothing where no library is missing.
Usage: the virtual environment's python torch_stand_ins.py; needs gcc and readelf."""
import pathlib
import re
import subprocess
import sys
import sysconfig
import tempfile

FOLDER = pathlib.Path(sysconfig.get_paths()["purelib"]) / "torch" / "lib"
SYMBOLS = "libdtype_guard_stand_ins.so"


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def needed(library):
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-dW", str(library))))


def symbols(library):
    """Names of the dynamic symbols that a library lacks, and of those that it has."""
    lacks, has = set(), set()
    for line in output("readelf", "--dyn-syms", "-W", str(library)).splitlines():
        fields = line.split()
        if len(fields) < 8 or fields[4] not in ("GLOBAL", "WEAK", "UNIQUE"):
            continue
        name = fields[7].split("@")[0]
        if fields[6] != "UND":
            has.add(name)
        elif fields[4] == "GLOBAL":
            lacks.add(name)
    return lacks, has


def versions_needed(libraries):
    """Library name -> the symbol versions that PyTorch asks it for."""
    versions = {}
    for library in libraries:
        origin = None
        for line in output("readelf", "-VW", str(library)).splitlines():
            file = re.search(r"File: (\S+)", line)
            origin = file.group(1) if file else origin
            version = re.search(r"Name: (\S+)\s+Flags", line)
            if version and origin:
                versions.setdefault(origin, set()).add(version.group(1))
    return versions


def system_libraries():
    found = {}
    for line in output("/sbin/ldconfig", "-p").splitlines()[1:]:
        name, _, path = line.strip().partition(" => ")
        found.setdefault(name.split(" ")[0], path)
    return found


def link(arguments, target):
    # A library of no object at all asks for a stack that can be executed, which glibc 2.41 and newer refuse.
    subprocess.run(["gcc", "-shared", "-nostdlib", "-fPIC", "-Wl,-z,noexecstack", f"-Wl,-soname,{target}", "-o", str(FOLDER / target), *arguments],
                   check=True)


def main():
    own = sorted(FOLDER.glob("*.so*")) + sorted(FOLDER.parent.glob("_C*.so"))
    system = system_libraries() if sys.platform == "linux" else None
    if system is None:
        return
    asked = set().union(*(needed(library) for library in own))
    # CUDA's libraries of this machine may be of another release, so none of them is used.
    missing = sorted(name for name in asked - {library.name for library in own}
                     if name not in system or re.match(r"lib(cu|nv|nccl)", name))
    if not missing:
        return
    lacks, has = set(), set()
    for library in own:
        lacked, had = symbols(library)
        lacks |= lacked
        has |= had
    for name in asked - set(missing):
        if name in system:
            has |= symbols(system[name])[1]
    undefined = sorted(name for name in lacks - has if not name.startswith(("Py", "_Py", "__cxa", "_ITM", "__gmon")))
    versions = versions_needed(own)
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch) / "symbols.s"
        heads = "".join(f".globl {name}\n.type {name},@function\n{name}:\n" for name in undefined)
        zero = "mov w0, #0\n" if "aarch64" in sysconfig.get_platform() else "xor %eax,%eax\n"
        source.write_text(f".text\n{heads}{zero}ret\n.section .note.GNU-stack,\"\",@progbits\n", encoding="utf-8")
        link([str(source)], SYMBOLS)
        for name in missing:
            script = pathlib.Path(scratch) / "versions.map"
            script.write_text("".join(f"{version} {{ }};\n" for version in sorted(versions.get(name, ()))), encoding="utf-8")
            arguments = [f"-Wl,--version-script={script}"] if versions.get(name) else []
            # Whatever needs the missing library finds the symbols through it.
            link([*arguments, "-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN", f"-L{FOLDER}", f"-l:{SYMBOLS}"], name)
    print(f"{len(missing)} libraries stand in, {len(undefined)} symbols")


main()
