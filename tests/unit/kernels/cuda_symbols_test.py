"""The CUDA kernels in the built library: each instance is there, its name tells the dtypes of its operands as the
sanitizer reads them, and there is code for each architecture.

Usage: cuda_symbols_test.py LIBRARY ARCHITECTURES NVCC
"""
import re
import subprocess
import sys

HALVES = ("__half", "__nv_bfloat16")
ALL = (*HALVES, "float")


def expected():
    names = set()
    for t in HALVES:
        four = ", ".join([t] * 4)
        for dim in (64, 96, 128, 256):
            names |= {f"attention_fwd_kernel<{four}, {dim}, (flash_ref::Masking){m}>" for m in range(3)}
            names.add(f"attention_kvcache_kernel<{four}, {dim}>")
            names.add(f"kvcache_join_kernel<{t}, {dim}>")
            sides = (0, 1) if dim < 256 else (0, 2, 3)
            names |= {f"attention_bwd_kernel<{four}, {dim}, {options}, (flash_ref::BackwardOf){side}>"
                      for options in ("false", "true") for side in sides}
            names.add(f"attention_bwd_kernel<{four}, {dim}, true, (flash_ref::BackwardOf)4>")
        names.add(f"kvcache_append_kernel<{four}>")
        names.add(f"attention_bwd_delta_kernel<{t}, {t}>")
    for t in ALL:
        names.add(f"rotary_kernel<{t}, {t}, {t}>")
        for dim in (64, 128):
            names |= {f"rwkv7_{way}_kernel<{', '.join([t] * 7)}, {dim}>" for way in ("fwd", "bwd")}
    return {f"void flash_ref::{name}" for name in names}


def main():
    library, architectures, nvcc = sys.argv[1:]
    with open(library, "rb") as file:
        data = file.read()
    mangled = sorted(set(re.findall(rb"(?<![\w.$])_ZN9flash_ref\d+\w*_kernelI\w+(?=\0)", data)))
    demangled = subprocess.run(["c++filt"], input=b"\n".join(mangled), capture_output=True, check=True).stdout.decode()
    found = {re.sub(r"\(flash_ref::\w+\)$", "", line) for line in demangled.splitlines()}
    wrong = [f"missing: {name}" for name in sorted(expected() - found)]
    wrong += [f"not expected: {name}" for name in sorted(found - expected())]
    # cuobjdump is not everywhere, but a fat binary says in words what ptxas was asked for.
    for architecture in re.findall(r"\d+a?", architectures):
        if f"sm_{architecture}".encode() not in data:
            wrong.append(f"no code for sm_{architecture} ({nvcc})")
    print("\n".join(wrong) or "\n".join(sorted(found)))
    sys.exit(1 if wrong else 0)


main()
