"""The library for aarch64, with its scalar code: built by a cross compiler, judged against fp64 under qemu.

Usage: cross_test.py SOURCE_DIR GENERATED_DIR DLPACK_INCLUDE WORK_DIR

Status 77, with the reason, without aarch64-linux-gnu-g++ or qemu-aarch64.
"""
import concurrent.futures
import glob
import os
import shutil
import subprocess
import sys


def main():
    source, generated, dlpack, work = sys.argv[1:]
    compiler, emulator = shutil.which("aarch64-linux-gnu-g++"), shutil.which("qemu-aarch64")
    for tool, name in ((compiler, "aarch64-linux-gnu-g++"), (emulator, "qemu-aarch64")):
        if tool is None:
            print(f"skipped: no {name}; on Debian: apt-get install g++-aarch64-linux-gnu qemu-user")
            return 77
    os.makedirs(work, exist_ok=True)
    # What cannot be found in a folder of headers by the compiler is taken from one that holds nothing else.
    shutil.copytree(os.path.join(dlpack, "dlpack"), os.path.join(work, "include", "dlpack"), dirs_exist_ok=True)
    files = [path for folder in ("call", "cpu", "launch", "reference")
             for path in sorted(glob.glob(os.path.join(source, "kernels", folder, "*.cpp")))
             if not path.endswith("generate_checks.cpp")]
    files += [os.path.join(source, "kernels", name) for name in ("cpu/isa/table.cpp", "cuda/none.cpp")]
    files += [os.path.join(source, "tests/accuracy", name)
              for name in ("attention_run.cpp", "attention_bwd_run.cpp", "kvcache_run.cpp", "rwkv7_run.cpp", "test_tensor.cpp",
                           "cross_main.cpp")]
    flags = ["-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", "-Wno-psabi", "-DFLASH_REF_ISA=scalar", "-I", source,
             "-I", generated, "-I", os.path.join(source, "kernels/include"), "-I", os.path.join(work, "include")]

    def compiled(path):
        target = os.path.join(work, os.path.relpath(path, source).replace("/", "_") + ".o")
        subprocess.run([compiler, *flags, "-c", path, "-o", target], check=True)
        return target

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compiled, files))
    program = os.path.join(work, "cross_main")
    subprocess.run([compiler, "-static", *objects, "-o", program, "-pthread"], check=True)
    result = subprocess.run([emulator, program], capture_output=True, text=True)
    print(result.stdout, result.stderr)
    return result.returncode


sys.exit(main())
