"""Operands of each call family are read at their places in the schema, or among a Function's tensors, whichever optional ones are absent:
right calls are no finding, and a wrong operand is named, beside the dtypes of the others."""
import collections
import json
import pathlib

from support import BUILT, Case, main
from torch_support import PYTHON, skip_without_torch

PROGRAM = pathlib.Path(BUILT["source"]) / "programs" / "torch_families.py"
SLOPES = {"alibi_slopes"}
PLACES = {"offsets", "cu_seqlens"}
# What no contract speaks of.
FREE = {
    "flash_attn::_flash_attn_backward": {"rng_state"}, "flash_attn::_flash_attn_varlen_backward": {"rng_state"},
    "xformers_flash::flash_fwd": {"cu_seqlens_q", "cu_seqlens_k", "seqused_k", "block_table"},
    "_C::paged_attention_v1": {"k_scale", "v_scale"},
    "_C::paged_attention_v2": {"exp_sums", "max_logits", "tmp_out", "k_scale", "v_scale"},
    "_C_cache_ops::reshape_and_cache_flash": {"slot_mapping", "k_scale", "v_scale"},
    "_vllm_fa2_C::varlen_fwd": {"seqused_k", "leftpad_k", "block_table", "alibi_slopes"},
    "aten::_flash_attention_forward": {"seqused_k", "alibi_slopes", "block_table"},
    "aten::_efficient_attention_forward": {"seqlen_k"},
    "aten::_scaled_dot_product_efficient_attention_backward": {"philox_seed", "philox_offset"},
    "FlashAttnFunc": SLOPES, "FlashAttnVarlenFunc": {"alibi_slopes", "block_table"}, "FlashAttnQKVPackedFunc": SLOPES,
    "FlashAttnKVPackedFunc": SLOPES, "FlashAttnVarlenQKVPackedFunc": SLOPES, "FlashAttnVarlenKVPackedFunc": SLOPES,
    "ApplyRotaryEmb": PLACES, "ApplyRotaryEmbQKV_": {"cos_k", "sin_k"}, "ApplyRotaryEmbKV_": PLACES, "RotaryEmbeddingFunction": PLACES,
    "_fMHA": {"bias"}, "ChunkDeltaRuleFunction": {"beta", "initial_state"}, "ChunkTTTLinearFunction": {"w", "b", "eta", "initial_state"},
    "ChunkDPLRDeltaRuleFunction": {"initial_state", "cu_seqlens"},
}
FAMILIES = 31


def is_looked_at(case):
    """Of vLLM's attention q and v are compared with k, which is absent where layers share their keys."""
    shares_keys = case["name"] == "vllm::unified_attention" and "k" not in case["given"]
    return case["wrong"] is not None and case["wrong"] not in FREE.get(case["name"], ()) and not shares_keys


class Families(Case):
    def test_each(self):
        done, report = self.run_command(PYTHON, "-W", "ignore", PROGRAM, options=("--options=torch=contracts:max_findings=3000",))
        self.assertEqual(done.returncode, 0, done.stderr)
        cases = json.loads(done.stdout)
        found = collections.defaultdict(list)
        for finding in report["findings"]:
            self.assertEqual(pathlib.Path(finding["location"]["file"]).name, "calls.py", finding["message"])
            found[finding["location"]["line"]].append(finding)
        self.assertEqual([case for case in cases if len(found[case["line"]]) != is_looked_at(case)], [])
        for case in filter(is_looked_at, cases):
            [finding] = found[case["line"]]
            read = {operand["role"]: operand["dtypes"][0] for operand in finding["operands"]}
            self.assertEqual(read, {role: case["given"].get(role) for role in read}, case)
            self.assertIn(case["wrong"], [sink["role"] for sink in finding["sinks"]], case)
        families = collections.Counter(case["name"] for case in cases)
        self.assertGreaterEqual(len(families), FAMILIES)
        self.assertEqual(sum(count for api, count in report["watched"]["calls"].items() if not api.startswith("flash_ref")), len(cases))
        print(f"{len(cases)} calls of {len(families)} families, {sum(map(is_looked_at, cases))} of them wrong")


if __name__ == "__main__":
    skip_without_torch()
    main()
