"""The library exports exactly the functions that its header declares, without symbol versions.

Usage: exports_test.py NM LIBRARY HEADER
"""
import re
import subprocess
import sys


def main():
    nm, library, header = sys.argv[1:]
    output = subprocess.run([nm, "-D", "--defined-only", library], check=True, capture_output=True, text=True)
    exported = {line.split()[-1] for line in output.stdout.splitlines()}
    with open(header, encoding="utf-8") as file:
        declared = set(re.findall(r"^FLASH_REF_API [^(]*?(\w+)\(", file.read(), re.MULTILINE))
    for name in sorted(exported - declared):
        print(f"exported but not declared: {name}")
    for name in sorted(declared - exported):
        print(f"declared but not exported: {name}")
    sys.exit(0 if exported == declared and declared else 1)


main()
