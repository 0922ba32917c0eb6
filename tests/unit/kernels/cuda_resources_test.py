"""Registers and stack of each CUDA kernel in the built library against the bounds of cuda_resources.tsv. A stack is where
registers are spilled to: no kernel has an array there. The figures come from the code itself, a cubin for each kernel and
architecture in the fat binary, as cuobjdump --dump-resource-usage would tell them where it is installed.

Usage: cuda_resources_test.py LIBRARY BOUNDS
"""
import re
import struct
import subprocess
import sys

FAT_BINARY, CUBIN = struct.pack("<IHH", 0xBA55ED50, 1, 16), 2
REGISTERS, FRAME = 0x2F, 0x11  # attributes in .nv.info, of format 4: size, symbol, value


def cubins(library):
    """(architecture, bytes) of each."""
    for found in re.finditer(re.escape(FAT_BINARY), library):
        at, (size,) = found.start() + 16, struct.unpack_from("<Q", library, found.start() + 8)
        end = at + size
        while at < end:
            kind, _, header, length = struct.unpack_from("<HHIQ", library, at)
            (architecture,) = struct.unpack_from("<I", library, at + 28)
            code = library[at + header:at + header + length]
            if kind == CUBIN:
                if code[:4] != b"\x7fELF":
                    sys.exit("a cubin in the library is compressed: this test reads plain ones (nvcc -no-compress)")
                yield architecture, code
            at += header + length


def text(data, at):
    return data[at:data.index(b"\0", at)].decode()


def resources(elf):
    """{mangled kernel: {attribute: value}}"""
    (table,), (entry, count, names) = struct.unpack_from("<Q", elf, 40), struct.unpack_from("<HHH", elf, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", elf, table + i * entry) for i in range(count)]
    (symbols,) = [section for section in sections if section[1] == 2]
    (info,) = [section for section in sections if text(elf, sections[names][4] + section[0]) == ".nv.info"]
    strings = sections[symbols[6]][4]
    found, at = {}, info[4]
    while at < info[4] + info[5]:
        form, attribute, size = struct.unpack_from("<BBH", elf, at)
        if form == 4 and attribute in (REGISTERS, FRAME):
            symbol, value = struct.unpack_from("<II", elf, at + 4)
            (name,) = struct.unpack_from("<I", elf, symbols[4] + 24 * symbol)
            found.setdefault(text(elf, strings + name), {REGISTERS: 0, FRAME: 0})[attribute] = value
        at += 4 + (size if form == 4 else 0)
    return found


def kernels(library):
    rows = [(architecture, name, of[REGISTERS], of[FRAME])
            for architecture, code in cubins(library) for name, of in resources(code).items() if "_kernelI" in name]
    plain = subprocess.run(["c++filt"], input="\n".join(row[1] for row in rows), capture_output=True, text=True, check=True)
    for (architecture, _, registers, stack), name in zip(rows, plain.stdout.splitlines()):
        short = re.sub(r"\(flash_ref::\w+\)$", "", name).replace("void flash_ref::", "").replace("(flash_ref::", "(")
        yield architecture, short, registers, stack


def main():
    library, table = sys.argv[1:]
    with open(library, "rb") as file:
        found = sorted(kernels(file.read()), key=lambda row: (row[1], row[0]))
    with open(table, encoding="utf-8") as file:
        bounds = [line.rstrip("\n").split("\t") for line in file if line.strip() and not line.startswith("#")]
    wrong, used = [], set()
    for architecture, name, registers, stack in found:
        print(f"sm_{architecture}  {registers:3} registers  {stack:3} bytes  {name}")
        bound = next((row for row in bounds if re.fullmatch(row[0], name)), None)
        if bound is None:
            wrong.append(f"no row of {table} is about {name}")
            continue
        used.add(bound[0])
        if registers > int(bound[1]) or stack > int(bound[2]):
            wrong.append(f"sm_{architecture} {name}: {registers} registers and {stack} bytes of stack; expected at most "
                         f"{bound[1]} and {bound[2]}: look for what it keeps, or raise the bound in {table} with a reason")
    wrong += [f"row '{row[0]}' of {table} is about no kernel" for row in bounds if row[0] not in used]
    if not found:
        wrong.append(f"no kernel was found in {library}")
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


main()
