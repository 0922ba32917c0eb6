#!/usr/bin/env python3
"""The switches of the build: what each value does, and that a wrong or unmet one is refused with the cure."""
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CMAKE = os.environ.get("CMAKE", "cmake")


def configure(*definitions):
    """Exit status and output of a configure step in a fresh folder; wrapped lines are joined."""
    with tempfile.TemporaryDirectory(prefix="a build ") as scratch:
        done = subprocess.run([CMAKE, "-S", ROOT, "-B", scratch, "-DBUILD_TESTING=OFF",
                               *(f"-D{definition}" for definition in definitions)],
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)
        return done.returncode, " ".join((done.stdout + done.stderr).split())


class Options(unittest.TestCase):
    def refused(self, definitions, *words):
        status, printed = configure(*definitions)
        self.assertNotEqual(status, 0, printed)
        for word in words:
            self.assertIn(word, printed)

    def test_wrong_values_are_refused(self):
        for name in ("DTYPE_GUARD_CUDA", "DTYPE_GUARD_TORCH"):
            self.refused([f"{name}=maybe"], f"{name} is 'maybe'; expected one of: auto, on, off")
        self.refused(["DTYPE_GUARD_ANALYZER=auto"], "DTYPE_GUARD_ANALYZER is 'auto'; expected one of: on, off")

    def test_on_without_the_thing_names_the_cure(self):
        self.refused(["DTYPE_GUARD_CUDA=on", "CMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON"],
                     "no CUDA toolkit 13 was found", "-DCUDAToolkit_ROOT", "-DDTYPE_GUARD_CUDA=off")
        self.refused(["DTYPE_GUARD_TORCH=on", "CMAKE_DISABLE_FIND_PACKAGE_Torch=ON"],
                     "no libtorch was found", "libtorch-dev", "-DDTYPE_GUARD_TORCH=off")
        self.refused(["CMAKE_DISABLE_FIND_PACKAGE_LLVM=ON"],
                     "dtype-lint needs the development files of LLVM and Clang", "-DDTYPE_GUARD_ANALYZER=OFF")

    def test_what_is_left_out_is_said(self):
        status, printed = configure("DTYPE_GUARD_ANALYZER=OFF", "DTYPE_GUARD_CUDA=off", "DTYPE_GUARD_TORCH=OFF")
        self.assertEqual(status, 0, printed)
        for part in ("ANALYZER", "CUDA", "TORCH"):
            self.assertIn(f"{part.lower()}: left out: DTYPE_GUARD_{part} is off", printed)

    def test_auto_goes_on_without_and_says_so(self):
        status, printed = configure("DTYPE_GUARD_ANALYZER=OFF", "CMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON",
                                    "CMAKE_DISABLE_FIND_PACKAGE_Torch=ON")
        self.assertEqual(status, 0, printed)
        self.assertIn("cuda: left out: no CUDA toolkit 13 was found", printed)
        self.assertIn("torch: left out: no libtorch was found", printed)


if __name__ == "__main__":
    unittest.main()
