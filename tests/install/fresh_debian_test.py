#!/usr/bin/env python3
"""The wheels and Debian packages on a new Debian, which debootstrap makes of a mirror: without LLVM, with a compiler.

    fresh_debian_test.py BUILD CLANG (1 or 0)

The system is kept in BUILD/.debian; each test works on a layer above it that is gone after it.
"""
import os
import pathlib
import platform
import re
import shutil
import sys
import tempfile
import unittest

import wheel_support
from wheel_support import BUILD, FIRST, ROOT, SECOND, SKIPPED, run

CLANG = sys.argv.pop(2) == "1"
NAME = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
SYSTEM = BUILD / ".debian" / NAME
INCLUDE = "python3-venv,g++,ca-certificates"
# $1: the system, $2: what it is given in /given, $3: site-packages with PyTorch in /torch, $4: the script
ENTER = """set -e
layer=$(dirname "$2")/layer
mount -t tmpfs none "$layer"
mkdir "$layer/above" "$layer/work" "$layer/root"
mount -t overlay -o "lowerdir=$1,upperdir=$layer/above,workdir=$layer/work" none "$layer/root"
mkdir "$layer/root/given" "$layer/root/torch"
mount --bind "$2" "$layer/root/given"
[ -z "$3" ] || mount --bind "$3" "$layer/root/torch"
mount --rbind /proc "$layer/root/proc"
mount --rbind /dev "$layer/root/dev"
exec chroot "$layer/root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
  sh -ec "$4"
"""
# expect STATUS COMMAND...
EXPECT = 'expect() { wanted=$1; shift; got=0; "$@" || got=$?; [ "$got" = "$wanted" ] || { echo "$*: $got, expected $wanted"; exit 1; }; }\n'
LINT = """
test ! -e /usr/lib/llvm-22
expect 1 {bin}dtype-lint --no-cache /given/examples/var/before.py
expect 0 {bin}dtype-lint --no-cache /given/examples/var/after.py
"""
LINT_CPP = """
expect 1 {bin}dtype-lint --no-cache /given/examples/plain_cpp/before.cpp -- -std=c++20 -I/given/include
expect 0 {bin}dtype-lint --no-cache /given/examples/plain_cpp/after.cpp -- -std=c++20 -I/given/include
"""
WATCH = """
expect 3 {bin}dtype-san run -- sh -c 'exit 3'
if [ -d /torch/torch ]; then
  PYTHONPATH=/torch {bin}dtype-san run --format=text=/tmp/found.txt -- {bin}python3 /given/job.py
  grep attention-mixed-dtypes /tmp/found.txt
else
  echo 'no PyTorch for this Python'
fi
"""
TIDY = """
{tidy} -load /usr/lib/dtype_guard/libdtype_tidy.so --list-checks -checks='-*,dtype-*' | grep dtype-attention-implicit-promotion
for each in before after; do
  {tidy} -load /usr/lib/dtype_guard/libdtype_tidy.so -checks='-*,dtype-*' /given/examples/plain_cpp/$each.cpp -- -std=c++20 -I/given/include >/tmp/$each.txt
done
grep 'dtype-attention-implicit-promotion' /tmp/before.txt
if grep 'dtype-' /tmp/after.txt; then exit 1; fi
"""
LEFT = "'(' -name '*dtype-lint*' -o -name '*dtype-san*' -o -name '*dtype_guard*' -o -name 'libflash_ref*' -o -name '*dtype_tidy*' ')'"
JOB = """import torch
import torch.nn.functional as F
k = v = torch.randn(1, 2, 8, 16, dtype=torch.bfloat16)
q = k * torch.ones(16)
try:
    F.scaled_dot_product_attention(q, k, v)
except RuntimeError:
    pass
"""


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def can_layer():
    """Whether a folder can be laid over another one here, which not every container allows."""
    with tempfile.TemporaryDirectory() as folder:
        return run("unshare", "-m", "sh", "-ec", 'mount -t tmpfs none "$1"; mkdir "$1/a" "$1/b" "$1/c" "$1/d"\n'
                   'mount -t overlay -o "lowerdir=$1/a,upperdir=$1/b,workdir=$1/c" none "$1/d"', "sh", folder).returncode == 0


def set_up():
    if os.geteuid() != 0 or not can_layer():
        skip("only root with a mount namespace and overlays can make a system and go into it")
    if not shutil.which("debootstrap"):
        skip("no debootstrap on this machine")
    if (SYSTEM / "ready").is_file():
        return
    shutil.rmtree(SYSTEM, ignore_errors=True)
    SYSTEM.mkdir(parents=True)
    made = run("debootstrap", "--variant=minbase", f"--include={INCLUDE}", NAME, SYSTEM)
    if made.returncode != 0:
        lines = [line for line in (made.stdout + made.stderr).splitlines() if line.startswith(("E:", "W:"))]
        shutil.rmtree(SYSTEM, ignore_errors=True)
        skip(f"no mirror of {NAME} answers: {' '.join(lines)}")
    shutil.rmtree(SYSTEM / "var" / "cache" / "apt" / "archives", ignore_errors=True)
    (SYSTEM / "ready").touch()


class FreshDebian(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.given = pathlib.Path(folder.name) / "given"
        cls.given.mkdir()
        (cls.given.parent / "layer").mkdir()
        for each in ("var", "plain_cpp"):
            shutil.copytree(ROOT / "examples" / each, cls.given / "examples" / each)
        shutil.copytree(ROOT / "kernels" / "include", cls.given / "include")
        shutil.copytree("/usr/include/dlpack", cls.given / "include" / "dlpack")  # flash_ref's header includes it
        (cls.given / "job.py").write_text(JOB)
        (cls.given / "a.cpp").write_text("#include <flash_ref/flash_ref.h>\nint main() { return flash_ref_last_error() == nullptr; }\n")
        torch = sorted((BUILD / ".venv").glob("lib/python*/site-packages"))
        own = sorted(SYSTEM.glob("usr/lib/python3.*/venv"))
        cls.torch = torch[0] if torch and own and own[0].parts[-2] == torch[0].parts[-2] else ""

    def inside(self, script):
        told = run("unshare", "-m", "--propagation", "private", "bash", "-c", ENTER, "bash", SYSTEM, self.given, self.torch, EXPECT + script)
        self.assertEqual(told.returncode, 0, told.stdout + told.stderr)
        if "no PyTorch for this Python" in told.stdout:
            print("no PyTorch for that Debian's Python in BUILD/.venv: no job of it was watched")
        return told.stdout

    def test_the_wheels(self):
        if not FIRST:
            self.skipTest("no wheel; install.wheels says why")
        for wheel, reads_cpp in [(FIRST[0], CLANG), *((each, False) for each in SECOND)]:
            shutil.copy(wheel, self.given)
            with self.subTest(wheel.name):
                script = f"python3 -m venv /empty\n/empty/bin/pip install --quiet --no-index '/given/{wheel.name}'\n"
                self.inside(script + (LINT + (LINT_CPP if reads_cpp else "") + WATCH).format(bin="/empty/bin/"))

    def copied(self, *wanted):
        """Which of these packages there are, in /given/packages."""
        packages = BUILD / "tests" / "install" / "packages"
        if not list(packages.glob("*.deb")):
            self.skipTest("no packages; install.debian says why")
        shutil.copytree(packages, self.given / "packages", ignore=shutil.ignore_patterns("_CPack_Packages"), dirs_exist_ok=True)
        return [each for each in wanted if list((self.given / "packages").glob(f"{each}_*.deb"))]

    def installed_used_and_purged(self, names, use, more=()):
        """`more` are packages of the mirror, which are purged as well."""
        files = " ".join([*(f"/given/packages/{each}_*.deb" for each in names), *more])
        script = "dpkg-query -W -f '${Package}\\n' | sort >/tmp/before\n"
        script += f"apt-get install -qq --no-install-recommends {files} >/tmp/log 2>&1 || {{ cat /tmp/log; exit 1; }}\ndpkg --audit\n{use}"
        script += f"apt-get purge -qq --autoremove {' '.join([*names, *more])} >/tmp/log 2>&1 || {{ cat /tmp/log; exit 1; }}\n"
        script += "dpkg-query -W -f '${Package}\\n' | sort >/tmp/after; diff /tmp/before /tmp/after\n"
        return script + f"left=$(find / -xdev {LEFT} -not -path '/given/*' -not -path '/tmp/*'); [ -z \"$left\" ] || {{ echo \"left: $left\"; exit 1; }}\necho whole\n"

    def test_the_packages(self):
        names = self.copied("dtype-lint", "dtype-san", "libflash-ref-dev")
        use = (LINT + (LINT_CPP if CLANG else "")).format(bin="") if "dtype-lint" in names else ""
        use += WATCH.format(bin="") + "g++ -std=c++20 /given/a.cpp -lflash_ref -o /tmp/a; /tmp/a\n"
        self.assertTrue(self.inside("apt-get update -qq\n" + self.installed_used_and_purged(names, use)).endswith("whole\n"))

    def test_the_package_of_the_plug_in(self):
        names = self.copied("dtype-guard-clang-tidy")
        if not names:
            self.skipTest("this build has no plug-in for clang-tidy")
        file, = (self.given / "packages").glob("dtype-guard-clang-tidy_*.deb")
        tidy, = re.findall(r"clang-tidy-\d+", wheel_support.done("dpkg-deb", "-f", file, "Recommends"))
        # Debian 12 has that clang-tidy among its security updates.
        script = f"echo 'deb http://deb.debian.org/debian-security {NAME}-security main' >>/etc/apt/sources.list\napt-get update -qq\n"
        script += f"apt-cache show {tidy} >/dev/null 2>&1 || {{ echo 'no {tidy} there'; exit 0; }}\n"
        told = self.inside(script + self.installed_used_and_purged(names, TIDY.format(tidy=tidy), [tidy]))
        if told.endswith(f"no {tidy} there\n"):
            self.skipTest(f"the mirror of {NAME} has no {tidy}")
        self.assertTrue(told.endswith("whole\n"), told)


if __name__ == "__main__":
    set_up()
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
