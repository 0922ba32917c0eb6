"""The device that dtype-lint holds Python code against: what the code names, what the user names, and what is refused on one
device alone.

    devices.py DTYPE_LINT
"""
import json
import unittest

from command_line import Case

CPU = """import torch
import torch.nn.functional as F
from flash_attn import flash_attn_func


def attend(model, x: torch.Tensor, k: torch.Tensor, v: torch.Tensor):
    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        q = WIDENS
        return flash_attn_func(q, k.bfloat16(), v.bfloat16())
"""


NORM = "F.normalize(x.to(torch.bfloat16), dim=-1)"


class Devices(Case):
    def lines(self, device, *arguments, widens=NORM, more=""):
        self.write(a__py=CPU.replace("DEVICE", device).replace("WIDENS", widens) + more)
        report = self.lint("--format=json", "a.py", *arguments)
        self.assertIn(report.returncode, (0, 1), report.stderr)
        found = json.loads(report.stdout)["findings"]
        return sorted((each["rule"], each["location"]["line"], each["device"]) for each in found)

    def test_the_device_that_the_code_names_wins_over_the_default(self):
        on_cuda = self.lines('"cuda"')
        self.assertEqual([each[1:] for each in on_cuda], [(8, "cuda")])
        # CPU's autocast lists no normalize: nothing is widened there (truth.py runs it).
        self.assertEqual(self.lines('"cpu"'), [])
        self.assertEqual(self.lines('device_type="cpu"'), [])

    def test_what_is_widened_on_the_cpu_is_found_there(self):
        found = self.lines('"cpu"', widens="x.to(torch.bfloat16) * torch.ones(8)")
        self.assertEqual([each[1:] for each in found], [(8, "cpu")])

    def test_who_names_both_is_held_against_the_default(self):
        self.assertEqual([each[1:] for each in self.lines('"cuda"', more=(
            "\n\ndef on_the_cpu(x: torch.Tensor):\n    with torch.autocast('cpu'):\n        return x + x\n"))], [(8, "cuda")])
        self.assertEqual([each[1:] for each in self.lines("x.device.type")], [(8, "cuda")])

    def test_what_the_user_names_wins_over_the_code(self):
        self.assertEqual(self.lines('"cpu"', "--device=cpu"), [])
        self.assertEqual(self.lines('"cuda"', "--device=cuda"), self.lines('"cuda"'))

    def test_a_float32_mask_is_refused_by_the_kernels_of_cuda_alone(self):
        self.write(a__py=FLOAT_MASK)
        found = json.loads(self.lint("--format=json", "a.py").stdout)["findings"]
        self.assertEqual([(each["rule"], each["location"]["line"], each["device"]) for each in found], [("attention-mask-dtype", 6, "cuda")])
        self.assertIn("invalid dtype for bias - should match query's dtype", self.lint("a.py").stdout)
        for device in ("cpu", "mps", "xpu"):  # truth.py runs it on the CPU
            self.assertEqual(json.loads(self.lint("--format=json", f"--device={device}", "a.py").stdout)["findings"], [])
        for chosen in ("from torch.nn.attention import SDPBackend, sdpa_kernel\nWITH sdpa_kernel(SDPBackend.MATH):",
                       "WITH torch.backends.cuda.sdp_kernel(enable_mem_efficient=False):",
                       "WITH torch.no_grad():\n        torch.backends.cuda.enable_mem_efficient_sdp(False)"):
            imports, block = chosen.split("WITH")
            self.write(a__py=FLOAT_MASK.replace("    return", f"    with{block}\n        return").replace("import torch\n", f"import torch\n{imports}", 1))
            self.assertEqual(json.loads(self.lint("--format=json", "a.py").stdout)["findings"], [], chosen)
        self.write(b__py=FLOAT_MASK.replace("torch.zeros(8, 8)", "torch.zeros(8, 8, dtype=torch.bool)"))
        self.assertEqual(json.loads(self.lint("--format=json", "b.py").stdout)["findings"], [])


    def masks(self, text, *arguments):
        self.write(a__py=text)
        return [each["location"]["line"] for each in json.loads(self.lint("--format=json", "a.py", *arguments).stdout)["findings"]]

    def test_what_runs_the_model_chooses_its_kernels_or_names_the_cpu(self):
        self.assertEqual(self.masks(MODEL), [13])
        self.assertEqual(self.masks(MODEL + RUN.format("", "", "net = Attention().cuda().half()", "cuda")), [13])
        self.assertEqual(self.masks(MODEL + "\n\ntorch.backends.cuda.enable_mem_efficient_sdp(False)\n"), [])
        self.assertEqual(self.masks(MODEL + RUN.format("from torch.nn.attention import SDPBackend, sdpa_kernel\n", "with sdpa_kernel(SDPBackend.MATH):\n        ",
                                                       "net = Attention().cuda().half()", "cuda")), [])
        self.assertEqual(self.masks(MODEL + RUN.format("", "", "net = Attention().to('cpu').bfloat16()", "cpu")), [])

    def test_what_a_device_is_asked_for_is_not_known(self):
        for asked in ("x.is_cuda", "x.device.type == 'cuda'", "x.device.type != 'cpu'"):
            self.assertEqual(self.masks(MODEL.replace("        return F", f"        if {asked}:\n            mask = mask.to(q.dtype)\n        return F")), [])

    def test_queries_of_three_dimensions_are_for_no_kernel_of_masks(self):
        three = "q = x.new_empty(2, 8, 16)\n        k = v = q\n"
        self.assertEqual(self.masks(MODEL.replace("        mask =", f"        {three}        mask =")), [])

    def test_a_mask_that_is_said_to_be_causal_may_not_be_looked_at(self):
        held = MODEL.replace("self.qkv = nn.Linear(64, 192)", "self.attn = nn.MultiheadAttention(64, 4)").replace(
            "F.scaled_dot_product_attention(q, k, v, mask)", "self.attn(x, x, x, attn_mask=mask, need_weights=False)")
        held = held.replace("        q, k, v = self.qkv(x).unflatten(-1, (3, 4, -1)).permute(2, 0, 3, 1, 4)\n", "\n")
        self.assertEqual(self.masks(held), [13])
        self.assertEqual(self.masks(held.replace("need_weights=False", "need_weights=False, is_causal=True")), [])

    def test_a_mask_of_integers_is_made_boolean(self):
        integers = MODEL.replace("torch.zeros(n, n, device=x.device)", "torch.zeros(n, n, dtype=torch.int64, device=x.device)")
        self.write(a__py=integers)
        out = self.lint("a.py").stdout
        self.assertIn("make it 'bool'", out)
        self.assertNotIn("fix:", out)


MODEL = """import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(64, 192)
    def forward(self, x):
        n = x.size(1)
        q, k, v = self.qkv(x).unflatten(-1, (3, 4, -1)).permute(2, 0, 3, 1, 4)
        mask = torch.zeros(n, n, device=x.device)
        return F.scaled_dot_product_attention(q, k, v, mask)
"""
RUN = """

{0}
def main():
    {2}
    {1}print(net(torch.randn(1, 2, 64, device="{3}").to(net.qkv.weight.dtype)))


if __name__ == "__main__":
    main()
"""
FLOAT_MASK = """import torch
import torch.nn.functional as F


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor):
    mask = torch.zeros(8, 8)
    q, k, v = q.bfloat16(), k.bfloat16(), v.bfloat16()
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
"""


if __name__ == "__main__":
    unittest.main()
