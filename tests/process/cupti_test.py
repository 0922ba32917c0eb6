"""Kernel launches seen through CUPTI, which a scripted libcupti plays: no GPU is needed."""

from support import BUILT, Case, main, marked_line

FLASH = ("_ZN13pytorch_flash16flash_fwd_kernelI23Flash_fwd_kernel_traitsILi128ELi64ELi64ELi4ELb0ELb0EN7cutlass6half_tE19Flash_kernel_traits"
         "ILi128ELi64ELi64ELi4ES3_EELb0ELb1ELb0ELb1ELb0ELb0ELb0ELb0EEEvNS_16Flash_fwd_paramsE")
EFFICIENT_FULL = "fmha_cutlassF_f32_aligned_64x64_rf_sm80"
EFFICIENT_HALF = "fmha_cutlassF_bf16_aligned_64x64_rf_sm80"


class Launches(Case):
    def launches(self, *words, expect="", **changes):
        """cupti=on: without a driver `run` would not set CUDA_INJECTION64_PATH by itself."""
        options = "cupti=on" + (f":expect={expect}" if expect else "")
        return self.run_command(BUILT["launches"], *words, options=["--options", options], **changes)

    def cupti(self, report):
        [source] = [source for source in report["watched"]["sources"] if source["name"] == "cupti"]
        return source

    def test_launches_are_counted_once_and_attention_is_known(self):
        done, report = self.launches(FLASH, FLASH, FLASH, "some_other_kernel", "graph")
        self.assertEqual(done.stdout, "subscriptions 1\n")
        source = self.cupti(report)
        self.assertTrue(source["on"])
        self.assertIn("4 launches of 2 kernels, 1 of them attention", source["why"])
        self.assertEqual(report["findings"], [])

    def test_full_precision_where_flash_was_expected(self):
        _, report = self.launches(EFFICIENT_FULL, EFFICIENT_FULL, expect="flash")
        [finding] = report["findings"]
        self.assertEqual((finding["rule"], finding["level"], finding["certainty"]),
                         ("silent-attention-fallback", "error", "definite"))
        self.assertIn("efficient attention ran in float32 where 'flash' was expected", finding["message"])
        self.assertEqual(finding["count"], 2)
        self.assertEqual(finding["location"]["line"], marked_line("launches.cpp", "launch"))
        self.assertEqual(finding["operands"][0]["dtypes"], ["float32"])

    def test_what_a_name_does_not_prove_is_no_error(self):
        _, report = self.launches(EFFICIENT_HALF, expect="flash")
        [finding] = report["findings"]
        self.assertEqual((finding["level"], finding["certainty"]), ("warning", "possible"))
        _, report = self.launches(EFFICIENT_FULL)
        [finding] = report["findings"]
        self.assertEqual((finding["level"], finding["certainty"]), ("note", "possible"))
        for silent in (FLASH, EFFICIENT_HALF, "ampere_sgemm_128x64_tn", "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16"):
            _, report = self.launches(silent)
            self.assertEqual(report["findings"], [], silent)
        _, report = self.launches(FLASH, expect="flash")
        self.assertEqual(report["findings"], [])

    def test_a_switch_inside_a_launch_hides_no_later_one(self):
        _, report = self.launches(FLASH, "switch", FLASH, FLASH)
        self.assertIn("4 launches of 2 kernels", self.cupti(report)["why"])

    def test_another_client_gets_the_place(self):
        done, report = self.launches(FLASH, "subscribe", FLASH)
        self.assertEqual(done.stdout, "subscribe 0\nsubscriptions 1\n")
        source = self.cupti(report)
        self.assertFalse(source["on"])
        self.assertIn("gave its place to another CUPTI client; before that 1 launch of 1 kernel", source["why"])

    def test_a_place_that_is_held_is_left_alone(self):
        done, report = self.launches(FLASH, SCRIPTED_HOLDER="Nsight Systems")
        self.assertEqual(done.stdout, "subscriptions 0\n")
        self.assertEqual(self.cupti(report), {"name": "cupti", "on": False, "why": "CUPTI is held by 'Nsight Systems'"})

    def test_a_failure_switches_the_source_off_and_not_the_job(self):
        done, report = self.launches(FLASH, SCRIPTED_FAIL="cuptiEnableCallback:1")
        self.assertEqual((done.returncode, done.stdout), (0, "subscriptions 0\n"))
        self.assertIn("cuptiEnableCallback failed: CUPTI_ERROR_UNKNOWN (999)", self.cupti(report)["why"])

    def test_off_and_bare_preload(self):
        done, report = self.run_command(BUILT["launches"], FLASH, options=["--options", "cupti=off"],
                                        CUDA_INJECTION64_PATH=BUILT["library"])
        self.assertEqual(done.stdout, "subscriptions 0\n")
        self.assertFalse(self.cupti(report)["on"])
        bare = self.preloaded(BUILT["launches"], FLASH, CUDA_INJECTION64_PATH=BUILT["library"])
        self.assertEqual(bare.stdout, "subscriptions 0\n")
        bare = self.preloaded(BUILT["launches"], FLASH, options="cupti=on", CUDA_INJECTION64_PATH=BUILT["library"])
        self.assertEqual(bare.stdout, "subscriptions 1\n")

    def test_a_set_injection_path_stays(self):
        done, report = self.launches(FLASH, CUDA_INJECTION64_PATH="/no/such/profiler.so")
        self.assertEqual(done.stdout, "subscriptions 0\n")
        self.assertFalse(self.cupti(report)["on"])

    def test_without_cuda_the_report_says_so(self):
        _, report = self.run_command(BUILT["kernel_calls"], "clean")
        self.assertIn("no watched process initialised CUDA", self.cupti(report)["why"])


if __name__ == "__main__":
    main()
