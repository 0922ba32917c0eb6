"""The objects of one instruction set define nothing that another object may define as well.

The linker keeps one copy of a function that several objects define, and it may be the one compiled with instructions
that the machine lacks. So every symbol that such an object defines has to be in the namespace of its instruction set.

Usage: isa_objects_test.py NM ISA OBJECT
"""
import re
import subprocess
import sys


def main():
    nm, isa, path = sys.argv[1:]
    output = subprocess.run([nm, "-C", "--defined-only", path], check=True, capture_output=True, text=True).stdout
    shared = []
    for line in output.splitlines():
        kind, name = re.match(r"\S*\s+(\S)\s+(.*)", line).groups()
        if kind in "WVuTDBRi" and f"flash_ref::cpu::{isa}::" not in name and not name.startswith("DW.ref."):
            shared.append(f"{kind} {name}")
    print("\n".join(shared))
    sys.exit(1 if shared or f"flash_ref::cpu::{isa}::kTable" not in output else 0)


main()
