"""Every function of the header that runs a kernel has one comment, with a line for each thing that a caller must know.

Usage: header_test.py HEADER

A label inside of a line, where a reader looks for it at the start, counts as missing.
"""
import re
import sys

LABELS = ["Shapes", "Strides", "Dtypes", "Accumulation", "Aliasing", "Errors", "Source"]
WITHOUT_TENSORS = {"flash_ref_last_error", "flash_ref_abi_version"}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        functions = re.findall(r"/\*((?:(?!\*/).)*)\*/\s*FLASH_REF_API [^(]*?(\w+)\(", file.read(), re.DOTALL)
    kernels = [(name, comment) for comment, name in functions
               if not name.endswith("_workspace") and name not in WITHOUT_TENSORS]
    wrong = 0
    for name, comment in kernels:
        found = re.findall(r"^ \* ([A-Z]\w+): ", comment, re.MULTILINE)
        if [label for label in found if label in LABELS] != LABELS:
            print(f"{name}: the comment has {found}; expected {LABELS} in this order, each at the start of a line")
            wrong += 1
    print(f"{len(kernels)} functions")
    sys.exit(0 if kernels and not wrong else 1)


main()
