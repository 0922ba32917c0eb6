"""Published bugs under dtype-san: the report opens with the line of the model that widened, and the same model without its bug is
silent."""
import pathlib

from support import BUILT, Case, main, marked_line, operands
from torch_support import PYTHON, skip_without_torch

PROGRAM = "torch_twins.py"


class Twins(Case):
    def watched(self, name, *flags):
        words = PYTHON, *flags, pathlib.Path(BUILT["source"]) / "programs" / PROGRAM, name
        plain = self.execute(*words)
        done, report = self.run_command(*words)
        self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout), done.stderr)
        return done.stdout, report

    def opening(self, finding):
        return pathlib.Path(finding["location"]["file"]).name, finding["location"]["line"]

    def test_vision_rotary_of_qwen(self):
        printed, report = self.watched("qwen")
        self.assertIn("AssertionError Input and cos/sin must have the same dtype, got torch.float32 and torch.bfloat16", printed)
        [finding] = report["findings"]
        self.assertEqual((finding["rule"], finding["api"]), ("rotary-dtype-mismatch", "flash_attn.layers.rotary.apply_rotary_emb"))
        self.assertEqual(operands(finding), {"x": "float32", "cos": "bfloat16", "sin": "bfloat16"})
        self.assertEqual(self.opening(finding), (PROGRAM, marked_line(PROGRAM, "qwen")))

    def test_vision_rotary_with_wide_tables(self):
        printed, report = self.watched("qwen_right")
        self.assertEqual((printed, report["findings"]), ("torch.bfloat16\n", []))
        calls = report["watched"]["calls"]
        self.assertEqual((calls["flash_attn.layers.rotary.apply_rotary_emb"], calls["scaled_dot_product_attention"]), (2, 1))

    def test_flash_attention_of_a_float32_decoder(self):
        """No operator widened anything: the report opens with what made the model's input in float32."""
        _, report = self.watched("decoder")
        [finding] = report["findings"]
        self.assertEqual((finding["rule"], finding["api"], finding["level"]), ("attention-unsupported-dtype", "flash_attn_func", "error"))
        self.assertEqual([sink["role"] for sink in finding["sinks"]], ["q", "k", "v"])
        self.assertIn((PROGRAM, marked_line(PROGRAM, "decoder")), [(pathlib.Path(frame["file"]).name, frame["line"]) for frame in finding["backtrace"]])
        self.assertEqual(self.opening(finding), (PROGRAM, marked_line(PROGRAM, "input")))
        self.assertEqual(operands(finding), {"q": "float32", "k": "float32", "v": "float32"})
        self.assertFalse(any("promoted" in step["note"] for step in finding["path"]), finding["path"])

    def test_flash_attention_of_a_bfloat16_decoder(self):
        printed, report = self.watched("decoder_right")
        self.assertEqual((printed, report["findings"], report["watched"]["calls"]["flash_attn_func"]), ("torch.bfloat16\n", [], 1))

    def test_key_of_rwkv7_without_assertions(self):
        printed, report = self.watched("rwkv7", "-O")
        self.assertEqual(printed, "RuntimeError\n")
        [finding] = report["findings"]
        self.assertEqual((finding["rule"], finding["api"]), ("attention-mixed-dtypes", "fla.chunk_rwkv7"))
        self.assertEqual([sink["role"] for sink in finding["sinks"]], ["k"])
        self.assertEqual(self.opening(finding), (PROGRAM, marked_line(PROGRAM, "rwkv7")))
        self.assertTrue(finding["path"][0]["note"].startswith("'k' is promoted by aten::addcmul(bfloat16, bfloat16, float32)"), finding["path"])

    def test_key_of_rwkv7_with_the_assertion(self):
        """It comes before any record: nothing is seen, and nothing was called."""
        printed, report = self.watched("rwkv7")
        self.assertEqual((printed, report["findings"], report["watched"]["calls"].get("fla.chunk_rwkv7", 0)), ("AssertionError\n", [], 0))

    def test_narrow_key_of_rwkv7(self):
        printed, report = self.watched("rwkv7_right", "-O")
        self.assertEqual((printed, report["findings"]), ("torch.bfloat16\n", []))
        self.assertEqual(report["watched"]["calls"].get("fla.chunk_rwkv7"), 1, report["watched"])


if __name__ == "__main__":
    skip_without_torch()
    main()
