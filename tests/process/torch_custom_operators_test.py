"""Operators that vLLM and transformers register with PyTorch are calls that a contract speaks of, by their schemas."""
import collections
import pathlib

from support import BUILT, Case, main, marked_line, operands
from torch_support import PYTHON, skip_without_torch

PROGRAM = "torch_custom_operators.py"
APIS = {"vllm.unified_attention": 2, "vllm.unified_mla_attention": 1, "vllm.flash_attn_maxseqlen_wrapper": 1, "vllm.torch_sdpa_wrapper": 1,
        "vllm.flash_attn.varlen_fwd": 1, "transformers_msa.sparse_atten": 1}


class CustomOperators(Case):
    def watched(self, how):
        done, report = self.run_command(PYTHON, pathlib.Path(BUILT["source"]) / "programs" / PROGRAM, how, options=("--options=torch=origins",))
        self.assertEqual(done.returncode, 0, done.stderr)
        return report

    def test_wrong(self):
        report = self.watched("wrong")
        [finding] = report["findings"]  # one operator widened them all
        self.assertEqual(finding["rule"], "attention-mixed-dtypes")
        self.assertEqual(finding["count"], sum(APIS.values()))
        self.assertEqual(collections.Counter(sink["api"] for sink in finding["sinks"]), APIS)
        self.assertEqual({sink["role"] for sink in finding["sinks"]}, {"q"})
        self.assertEqual(operands(finding)["q"], "float32")
        self.assertEqual((pathlib.Path(finding["location"]["file"]).name, finding["location"]["line"]),
                         (PROGRAM, marked_line(PROGRAM, "wide")))
        self.assertEqual({api: report["watched"]["calls"][api] for api in APIS}, {api: 2 * count for api, count in APIS.items()})

    def test_right(self):
        report = self.watched("right")
        self.assertEqual(report["findings"], [])
        calls = {**APIS, "vllm.unified_attention": 4}
        self.assertEqual({api: report["watched"]["calls"][api] for api in APIS}, calls)


if __name__ == "__main__":
    skip_without_torch()
    main()
