"""How the CUPTI source gets in, and what it does when CUPTI or the driver is missing, broken, held, or fails at any
call: the job runs on and the report says why CUPTI was off. A scripted CUDA plays: no GPU is needed."""
import pathlib
import shutil
import sys

from support import BUILT, Case, main

REAL = """
import ctypes, os, sys
runtime = ctypes.CDLL(sys.argv[1])
ctypes.CDLL(os.environ["CUDA_INJECTION64_PATH"]).InitializeInjection()
print("devices", runtime.cudaGetDeviceCount(ctypes.byref(ctypes.c_int())))
"""
KERNEL = "fmha_cutlassF_bf16_aligned_64x64_rf_sm80"


class WayIn(Case):
    def setUp(self):
        super().setUp()
        self.lib = self.scratch / "lib"
        self.lib.mkdir()
        self.take("runtime/libcudart.so.13", "driver/libcuda.so.1")

    def take(self, *files):
        for file in files:
            shutil.copy(pathlib.Path(BUILT["scripted_cuda"]) / file, self.lib)

    def client(self, *words, options="cupti=on", **changes):
        return self.run_command(BUILT["other_client"], *words, options=["--options", options], LD_LIBRARY_PATH=str(self.lib),
                                **changes)

    def cupti(self, report):
        [source] = [source for source in report["watched"]["sources"] if source["name"] == "cupti"]
        return source

    def off(self, report, reason):
        source = self.cupti(report)
        self.assertFalse(source["on"])
        self.assertRegex(source["why"], reason)

    def test_the_libcupti_beside_the_runtime_is_opened(self):
        self.take("cupti/libcupti.so.13")
        done, report = self.client("inject", "launch", KERNEL)
        self.assertEqual(done.stdout, "runtime 13\nlibcupti 1\n")
        self.assertIn("1 launch of 1 kernel, 1 of them attention", self.cupti(report)["why"])

    def test_as_a_cuda_12_wheel_has_it(self):
        runtime = self.scratch / "nvidia" / "cuda_runtime" / "lib"
        beside = self.scratch / "nvidia" / "cuda_cupti" / "lib"
        runtime.parent.mkdir(parents=True)
        beside.mkdir(parents=True)
        self.lib.rename(runtime)
        self.lib = runtime
        shutil.copy(pathlib.Path(BUILT["scripted_cuda"]) / "cupti_old/libcupti.so.13", beside)
        done, report = self.client("inject", "launch", KERNEL)
        self.assertEqual(done.stdout, "runtime 13\nlibcupti 1\n")
        self.assertTrue(self.cupti(report)["on"])

    def test_one_before_cuda_13_has_no_name_for_the_holder(self):
        self.take("cupti_old/libcupti.so.13")
        _, report = self.client("inject", "launch", KERNEL, SCRIPTED_HOLDER="another")
        self.off(report, "^another profiler is subscribed to CUPTI$")
        _, report = self.client("inject", "launch", KERNEL)
        self.assertTrue(self.cupti(report)["on"])

    def test_no_second_copy(self):
        self.take("cupti/libcupti.so.13")
        elsewhere = self.scratch / "elsewhere"
        elsewhere.mkdir()
        copy = shutil.copy(self.lib / "libcupti.so.13", elsewhere)
        done, report = self.client("open", copy, "inject")
        self.assertEqual(done.stdout, "runtime 13\nsubscribe 0\nlibcupti 1\n")
        self.off(report, "another profiler is subscribed to CUPTI")

    def test_cupti_inside_another_library(self):
        """As where a profiler was linked with the static libcupti: none is opened beside it."""
        self.take("cupti/libcupti.so.13", "inside/libprofiler.so")
        done, report = self.client("open", self.lib / "libprofiler.so", "inject")
        self.assertEqual(done.stdout, "runtime 13\nsubscribe 0\nlibcupti 0\n")
        self.off(report, "another profiler is subscribed to CUPTI")

    def test_another_client_by_handle_after_us(self):
        self.take("cupti/libcupti.so.13")
        done, report = self.client("inject", "launch", KERNEL, "open", self.lib / "libcupti.so.13", "launch", KERNEL)
        self.assertEqual(done.stdout, "runtime 13\nsubscribe 0\nlibcupti 1\n")
        self.off(report, "gave its place to another CUPTI client; before that 1 launch of 1 kernel")

    def test_what_a_client_does_not_find_it_does_not_get_from_us(self):
        done, _ = self.client("open", self.lib / "libcudart.so.13")
        self.assertIn("subscribe -1\n", done.stdout)

    def test_without_libcupti(self):
        done, report = self.client("inject")
        self.assertEqual((done.returncode, done.stdout), (0, "runtime 13\nlibcupti 0\n"))
        self.off(report, "^no libcupti is loaded, and none beside libcudart in '.*/lib/' can be opened$")

    def test_a_file_that_is_no_library(self):
        for content in (b"", b"not ELF\n", (self.lib / "libcudart.so.13").read_bytes()[:600]):
            (self.lib / "libcupti.so.13").write_bytes(content)
            done, report = self.client("inject")
            self.assertEqual((done.returncode, done.stdout), (0, "runtime 13\nlibcupti 0\n"))
            self.off(report, "none beside libcudart in '.*/lib/' can be opened")

    def test_a_library_without_its_functions(self):
        shutil.copy(self.lib / "libcuda.so.1", self.lib / "libcupti.so.13")
        done, report = self.client("inject")
        self.assertEqual(done.returncode, 0)
        self.off(report, "^this libcupti lacks functions of the callback API$")

    def test_without_a_driver(self):
        """cuInit is never called, or fails: CUPTI does not load the library."""
        self.take("cupti/libcupti.so.13")
        done, report = self.client("launch", KERNEL)
        self.assertEqual((done.returncode, done.stdout), (0, "runtime 13\nlibcupti 0\n"))
        self.off(report, "no watched process initialised CUDA")

    def test_a_runtime_without_a_driver(self):
        file = str(self.lib / "libcudart.so.13")
        done, report = self.run_command(sys.executable, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])", file)
        self.assertEqual(done.returncode, 0)
        self.off(report, "^CUDA's runtime is loaded, its driver .* is not: this machine has none, or CUDA was not used$")

    def test_one_process_without_cuda_does_not_hide_another(self):
        self.take("cupti/libcupti.so.13")
        script = f"'{BUILT['other_client']}' inject launch {KERNEL}; '{BUILT['no_kernels']}'"
        _, report = self.run_command("sh", "-c", script, options=["--options", "cupti=on"], LD_LIBRARY_PATH=str(self.lib))
        self.assertTrue(self.cupti(report)["on"])
        self.assertIn("1 launch of 1 kernel", self.cupti(report)["why"])

    def test_every_call_may_fail(self):
        self.take("cupti/libcupti.so.13")
        every = [("cuptiSubscribe_v2", 1)] + [("cuptiEnableCallback", number) for number in range(19)]
        for function, number in every:
            done, report = self.client("inject", "launch", KERNEL, SCRIPTED_FAIL=f"{function}:{number}")
            self.assertEqual((done.returncode, done.stdout), (0, "runtime 13\nlibcupti 1\n"))
            self.off(report, rf"^{function} failed: CUPTI_ERROR_UNKNOWN \(999\)$")
        _, report = self.client("inject", SCRIPTED_HOLDER="x", SCRIPTED_FAIL="cuptiGetResultString:0")
        self.off(report, "^CUPTI is held by 'x'$")
        self.take("cupti_old/libcupti.so.13")
        _, report = self.client("inject", SCRIPTED_FAIL="cuptiSubscribe:1")
        self.off(report, "^cuptiSubscribe failed: CUPTI_ERROR_UNKNOWN")

    def test_unsubscribing_may_fail(self):
        self.take("cupti/libcupti.so.13")
        done, report = self.client("inject", "launch", KERNEL, "open", self.lib / "libcupti.so.13",
                                   SCRIPTED_FAIL="cuptiUnsubscribe:1")
        self.assertEqual(done.returncode, 0)
        self.off(report, r"gave its place to another CUPTI client; cuptiUnsubscribe failed: CUPTI_ERROR_UNKNOWN \(999\)")

    def test_the_variable_is_set_only_when_it_is_unset(self):
        self.take("cupti/libcupti.so.13")
        done, _ = self.run_command("sh", "-c", "echo $CUDA_INJECTION64_PATH", options=["--options", "cupti=on"])
        self.assertTrue(done.stdout.strip().endswith("libdtype_san.so"), done.stdout)
        done, report = self.run_command("sh", "-c", "echo $CUDA_INJECTION64_PATH", options=["--options", "cupti=on"],
                                        CUDA_INJECTION64_PATH="/opt/profiler.so")
        self.assertEqual(done.stdout, "/opt/profiler.so\n")
        self.off(report, "CUDA_INJECTION64_PATH is '/opt/profiler.so': that tool keeps the place")
        done, report = self.run_command("sh", "-c", "echo $CUDA_INJECTION64_PATH", options=["--options", "cupti=off"])
        self.assertEqual(done.stdout, "\n")
        self.off(report, "option cupti=off")

    def test_both_ways_in_together_initialise_once(self):
        self.take("cupti/libcupti.so.13")
        done, report = self.client("inject", "inject", "launch", KERNEL, "inject", "launch", KERNEL)
        self.assertEqual(done.stdout, "runtime 13\nlibcupti 1\n")
        self.assertIn("2 launches of 1 kernel", self.cupti(report)["why"])
        _, report = self.client("inject", "inject", SCRIPTED_FAIL="cuptiSubscribe_v2:1")
        self.off(report, "cuptiSubscribe_v2 failed")  # the second way in does not try again

    def test_nvidias_own_libcupti(self):
        """Without a driver it fails, but not at our parameters."""
        found = [str(file) for folder in BUILT["cuda_libraries"].split(";") if folder
                 for file in pathlib.Path(folder).glob("libcudart.so.*") if any(file.parent.glob("libcupti.so.*"))]
        if not found:
            self.skipTest("no CUDA toolkit with libcudart.so and libcupti.so side by side")
        done, report = self.run_command(sys.executable, "-c", REAL, found[0], options=["--options", "cupti=on"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("devices", done.stdout)
        if not self.cupti(report)["on"]:
            self.off(report, r"^cuptiSubscribe_v2 failed: CUPTI_ERROR_(UNKNOWN|NOT_INITIALIZED|LEGACY_PROFILER_NOT_SUPPORTED)"
                             r"|is held by|another profiler")

    def test_preload_alone_waits_for_the_driver(self):
        """Without CUDA_INJECTION64_PATH the first watched call starts the source, once the driver is initialised."""
        done = self.preloaded(BUILT["cuda_job"], "call", "17", "call", "17", options="cupti=on")
        self.assertEqual(done.stdout, "subscriptions 1\n")
        done = self.preloaded(BUILT["cuda_job"], "call", "17")
        self.assertEqual(done.stdout, "subscriptions 0\n")


if __name__ == "__main__":
    main()
