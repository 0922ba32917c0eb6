"""What launches tell beyond their kernels' names: casts before attention, the watched call that a kernel is launched
in, CUDA graphs. A scripted CUDA plays (programs/cuda_job.c): no GPU is needed."""
import json

from support import BUILT, Case, main, marked_line, operands

CASTS = "attention-implicit-promotion"
FED = ("narrow", "1000", "1024", "narrow", "9000", "2048", "attention", "1000", "9000", "5000")
CONTRACT = {"schema": "dtype-guard/contracts/1", "library": "mine", "apis": [
    {"name": "my_attention", "kind": "attention", "spellings": ["my_attention"], "operands": [
        {"role": "q", "argument": 0, "accepts": ["float16", "bfloat16", "float32", "uint8"]},
        {"role": "k", "argument": 1, "same_as": "q"}, {"role": "v", "argument": 2, "same_as": "q"},
        {"role": "out", "argument": 3, "same_as": "q", "direction": "out"},
        {"role": "lse", "argument": 4, "accepts": ["float32"], "optional": True, "direction": "out"}],
     "source": "a test"}]}


class Job(Case):
    def job(self, *words, options="", arguments=(), **changes):
        return self.run_command(BUILT["cuda_job"], *words, options=["--options", f"cupti=on:{options}", *arguments], **changes)

    def findings(self, *words, **rest):
        done, report = self.job(*words, **rest)
        self.assertEqual(done.returncode, 0, done.stderr)
        return report["findings"]

    def cupti(self, report):
        [source] = [source for source in report["watched"]["sources"] if source["name"] == "cupti"]
        return source


class Casts(Job):
    def test_a_cast_that_writes_what_attention_reads(self):
        [finding] = self.findings(*FED)
        self.assertEqual((finding["rule"], finding["level"], finding["certainty"]), (CASTS, "note", "possible"))
        self.assertEqual(finding["message"], "q and k are cast from float32 to bfloat16 right before the attention that "
                                             "reads them: 2 casts moved 18.0 KiB")  # (1024 + 2048) * (4 + 2)
        self.assertEqual(operands(finding), {"q": "bfloat16", "k": "bfloat16"})
        self.assertIn(marked_line("cuda_job.c", "attention"), [frame["line"] for frame in finding["backtrace"]])

    def test_repeats_are_counted(self):
        [finding] = self.findings(*FED * 3)
        self.assertEqual(finding["count"], 3)
        self.assertIn("6 casts moved 54.0 KiB", finding["message"])

    def test_dtypes_that_only_the_arguments_tell(self):
        [finding] = self.findings("convert", "1000", "100", "5", "6", "attention", "4000", "5000", "1000")
        self.assertIn("v is cast from float16 to float32 right before the attention that reads it: 1 cast moved 600 bytes",
                      finding["message"])

    def test_by_every_way_to_launch(self):
        for way in (["way", "driver"], ["way", "ex"], ["extra"], ["stream", "77"], ["way", "ex", "extra"]):
            self.assertEqual(len(self.findings(*way, *FED)), 1, way)

    def test_what_is_launched_may_be_a_kernel(self):
        """As the runtime does it since CUDA 12: cuFuncGetParamInfo knows nothing of its handle."""
        for way in ([], ["way", "driver"], ["extra"]):
            self.assertEqual(len(self.findings(*way, *FED, SCRIPTED_KERNELS="1")), 1, way)

    def test_what_is_not_proved_is_not_said(self):
        cast = ("narrow", "1000", "1024")
        attention = ("attention", "1000", "9000", "5000")
        for words in (
                (*cast, "attention", "1008", "9000", "5000"),  # into the buffer, not its start
                (*cast, "attention", "2000", "3000", "5000"),
                (*cast, "other", *attention),  # may have written there
                (*cast, "stream", "5", *attention),
                (*cast, "capture", "50", "end", "make", "60", "50", "replay", "60", *attention),
                (*cast, "narrow", "1400", "1024", "narrow", "900", "1024", *attention),  # written over in between
                ("convert", "1000", "100", "6", "6", *attention),  # a copy
                ("convert", "1000", "100", "3", "6", *attention),  # from integers
                ("convert", "1000", "100", "99", "6", *attention),  # no such dtype
                ("narrow", "1000", "0", *attention),
                ("narrow", "0", "1024", "attention", "0", "9000", "5000"),
                ("way", "alone", *cast, *attention),  # no callback of the driver: no arguments
                ("switch", "0", *cast, "switch", "1", *attention),
                (*cast, "switch", "0", "other", "switch", "1", *attention)):
            self.assertEqual(self.findings(*words), [], words)

    def test_attention_is_the_next_one(self):
        [finding] = self.findings(*FED, "attention", "1000", "9000", "5000")
        self.assertEqual(finding["count"], 1)

    def test_without_the_drivers_word_nothing_is_read(self):
        self.assertEqual(self.findings(*FED, SCRIPTED_FAIL="cuFuncGetParamInfo:0"), [])

    def test_the_time_they_took(self):
        [finding] = self.findings(*FED * 2, options="cast_time=1")
        self.assertIn("4 casts moved 36.0 KiB, about 10.0 ms on the device (4 timed)", finding["message"])

    def test_no_events_where_a_graph_is_captured(self):
        [finding] = self.findings(*FED, options="cast_time=1", SCRIPTED_CAPTURING="1")
        self.assertNotIn("on the device", finding["message"])

    def test_a_driver_that_fails_costs_the_time_only(self):
        for function in ("cuStreamIsCapturing", "cuEventCreate", "cuEventRecord", "cuEventQuery", "cuEventElapsedTime"):
            for number in range(4):
                findings = self.findings(*FED, options="cast_time=1", SCRIPTED_FAIL=f"{function}:{number}")
                self.assertEqual(len(findings), 1, (function, number))
                if number == 0:
                    self.assertNotIn("on the device", findings[0]["message"], function)


class Calls(Job):
    def contract(self):
        file = self.scratch / "mine.json"
        file.write_text(json.dumps(CONTRACT), encoding="utf-8")
        return [f"--contracts={file}"]

    def test_our_kernel_was_built_for_another_dtype(self):
        [finding] = self.findings("call", "17", "call", "16", "call", "16")
        self.assertEqual((finding["rule"], finding["level"], finding["certainty"]),
                         ("dlpack-dtype-mismatch", "error", "definite"))
        self.assertEqual(finding["message"], "q, k and v are described as float16 and read as bfloat16 by the attention kernel "
                                             "of flash_ref that flash_ref_attention_fwd launched")
        self.assertEqual((finding["api"], finding["count"]), ("flash_ref_attention_fwd", 2))
        self.assertEqual(finding["operands"][0]["shape"], [1, 8, 64, 128])
        self.assertEqual(finding["location"]["line"], marked_line("cuda_job.c", "watched"))  # the call's stack

    def test_a_foreign_kernel_reads_a_described_address(self):
        [finding] = self.findings("foreign", "17", "foreign", "32", arguments=self.contract())
        self.assertEqual(finding["rule"], "dlpack-dtype-mismatch")
        self.assertIn("q, k and v are described as float32 and read as bfloat16 by the attention kernel of torch that "
                      "my_attention launched", finding["message"])

    def test_a_foreign_kernel_whose_arguments_are_not_known(self):
        for words, changes in ((("foreign", "16"), {"SCRIPTED_FAIL": "cuFuncGetParamInfo:0"}),
                               (("way", "alone", "foreign", "16"), {}),
                               (("foreign", "8"), {}),  # raw bytes stand for whatever the caller means
                               (("attention", "10000000", "10100000", "10200000"), {})):  # outside of any call
            self.assertEqual(self.findings(*words, arguments=self.contract(), **changes), [], words)

    def test_also_without_origins(self):
        """The end of a call has to be seen, or a later launch belongs to it."""
        self.assertEqual(len(self.findings("call", "16", options="origins=0")), 1)
        [finding] = self.findings("foreign", "16", "attention", "10000000", "10100000", "10200000", options="origins=0",
                                  arguments=self.contract())
        self.assertEqual(finding["count"], 1)

    def test_a_call_that_was_left_by_longjmp(self):
        _, report = self.job("leave", *FED, "other", "call", "17")
        self.assertEqual([finding["rule"] for finding in report["findings"]], [CASTS])

    def test_a_call_that_ran_in_full_precision(self):
        [finding] = self.findings("slow", "16", "fmha_cutlassF_f32_aligned_64x64_rf_sm80")
        self.assertEqual((finding["rule"], finding["level"], finding["certainty"]),
                         ("silent-attention-fallback", "warning", "definite"))
        self.assertIn("flash_ref_attention_fwd was called with q in float16 and launched attention in float32", finding["message"])
        [finding] = self.findings("slow", "17", "ampere_sgemm_128x64_tn")
        self.assertEqual((finding["level"], finding["certainty"]), ("note", "possible"))
        for half in ("fmha_cutlassF_f16_aligned_64x64_rf_sm80", "ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_f2f_stages_64x5_tn"):
            self.assertEqual(self.findings("slow", "16", half), [], half)

    def test_a_kernel_finding_has_the_call_and_its_operands(self):
        [finding] = self.findings("foreign", "17", options="expect=cudnn", arguments=self.contract())
        self.assertEqual(finding["rule"], "silent-attention-fallback")
        self.assertEqual(finding["operands"][0]["shape"], [1, 8, 64, 128])
        self.assertEqual(finding["location"]["line"], marked_line("cuda_job.c", "watched"))


class Graphs(Job):
    CAPTURED = ("capture", "50", *FED, "end", "make", "60", "50")

    def test_checked_at_capture_and_replays_counted(self):
        _, report = self.job(*self.CAPTURED, *("replay", "60") * 5, options="expect=cudnn")
        fallback = [finding for finding in report["findings"] if finding["rule"] != CASTS]
        self.assertEqual([finding["count"] for finding in fallback], [5])
        self.assertIn("3 graph nodes created, 5 graph launches", self.cupti(report)["why"])

    def test_live_launches_and_replays_add_up(self):
        _, report = self.job(*FED, *self.CAPTURED, *("replay", "60") * 2, "replay", "99", options="expect=cudnn")
        [fallback] = [finding for finding in report["findings"] if finding["rule"] != CASTS]
        self.assertEqual(fallback["count"], 3)

    def test_an_executables_address_is_used_again(self):
        _, report = self.job(*self.CAPTURED, "replay", "60", "replay", "60", "capture", "50", "other", "end", "make", "60", "50",
                             *("replay", "60") * 9, options="expect=cudnn")
        [fallback] = [finding for finding in report["findings"] if finding["rule"] != CASTS]
        self.assertEqual(fallback["count"], 2)  # the other graph has no attention in it

    def test_one_graph_made_twice(self):
        _, report = self.job(*self.CAPTURED, "make", "70", "50", "replay", "60", *("replay", "70") * 3, options="expect=cudnn")
        [fallback] = [finding for finding in report["findings"] if finding["rule"] != CASTS]
        self.assertEqual(fallback["count"], 4)


class Switching(Job):
    def test_off_gives_the_subscription_back_and_on_takes_it_again(self):
        done, report = self.job("attention", "1", "2", "3", "switch", "0", "attention", "1", "2", "3")
        self.assertEqual(done.stdout, "subscriptions 0\n")
        self.assertEqual(self.cupti(report)["why"], "gave its place back: watching was switched off; before that 1 launch of 1 "
                                                    "kernel, 1 of them attention")
        done, report = self.job("attention", "1", "2", "3", "switch", "0", "other", "switch", "1", "attention", "1", "2", "3")
        self.assertEqual(done.stdout, "subscriptions 1\n")
        self.assertIn("2 launches of 1 kernel", self.cupti(report)["why"])

    def test_a_dormant_start_sees_nothing_until_it_is_switched_on(self):
        done, report = self.job("other", "switch", "1", "attention", "1", "2", "3", options="start=dormant")
        self.assertEqual(done.stdout, "subscriptions 1\n")
        self.assertIn("1 launch of 1 kernel, 1 of them attention", self.cupti(report)["why"])


if __name__ == "__main__":
    main()
