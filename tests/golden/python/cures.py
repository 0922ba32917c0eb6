"""What messages and fixes tell the reader to write: the expression, the cast and where, whatever stands around the code.

    cures.py DTYPE_LINT
"""
import unittest

from command_line import Case

HEAD = """import torch
import torch.nn.functional as F
from flash_attn import flash_attn_func
from torch import Tensor


"""
MODULE = HEAD + """class Attention(torch.nn.Module):
    def forward(self, q: Tensor, k: Tensor):
        q = F.normalize(q, dim=-1)
        return flash_attn_func(q, k, k)
"""

# Rows of a table, as many as there are positions: beside them stands nothing that has a dtype.
COUNTED = HEAD + """class Table(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = torch.nn.Linear(1, 8), torch.nn.Linear(8, 4)

    def forward(self, rows, device):
        steps = torch.arange(1 - rows, rows, device=device).float()
        return self.down(F.silu(self.up(steps.unsqueeze(-1))))


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inputs, self.table = torch.nn.Linear(8, 8), Table()

    def forward(self, x):
        batch, rows, width = x.shape
        q = self.inputs(x).unsqueeze(1)
        return F.scaled_dot_product_attention(q, q, q, attn_mask=self.table(rows, x.device))
"""


class Cures(Case):
    def only(self, text, *options):
        self.write(a__py=text)
        [finding] = self.report("a.py", *options, status=1)["findings"]
        return finding

    def cure(self, body, *options):
        return self.only(HEAD + body, *options)["message"].rsplit("; ", 1)[1]

    def test_a_loop_that_hands_back_what_it_made_is_named(self):
        self.assertEqual(self.cure("def attend(n: int, q: Tensor, k: Tensor):\n    for i in range(n):\n"
                                   "        q = q * torch.ones(8)\n        flash_attn_func(q, k, k)\n"),
                         "what it gives comes back to it in the next round of the loop in 'attend': keep one dtype across rounds, "
                         "or cast only what the call gets, e.g. '.to(k.dtype)'")

    def test_without_a_name_the_expression_and_its_dtype_are_named(self):
        self.assertEqual(self.cure("def attend(a: Tensor, k: Tensor):\n    q = torch.cat([a[1:], torch.ones(8, 8)])\n"
                                   "    return flash_attn_func(q, k, k)\n", "--precision=bf16"),
                         "cast what 'torch.cat([a[1:], torch.ones(8, 8)])' gives back to 'bfloat16'")

        self.assertEqual(self.cure("def attend(a: Tensor, k: Tensor):\n    q = torch.cat(\n        [a[1:], torch.ones(8, 8)],\n        dim=0,\n"
                                   "    )\n    return flash_attn_func(q, k, k)\n", "--precision=bf16"),
                         "cast what 'torch.cat([a[1:], torch.ones(8, 8)], dim=0)' gives back to 'bfloat16'")

    def test_of_a_list_that_is_written_out_the_narrow_element_is_named(self):
        for of_list in ("[torch.ones(8, 8), a]", "(a, torch.ones(8, 8))", "[torch.ones(8, 8), k[1:], a]"):
            with self.subTest(of_list):
                named = "k[1:]" not in of_list
                self.assertEqual(self.cure(f"def attend(a: Tensor, k: Tensor):\n    q = torch.cat({of_list})\n"
                                           "    return flash_attn_func(q, k, k)\n", "--precision=bf16"),
                                 "cast back after it, e.g. '.to(a.dtype)'" if named else
                                 f"cast what 'torch.cat({of_list})' gives back to 'bfloat16'")

    def test_at_the_call_an_operand_that_is_right_is_named(self):
        self.assertEqual(self.cure("def attend(q: Tensor, k: Tensor, v: Tensor):\n    q = q.float()\n"
                                   "    return flash_attn_func(q, k, v)\n"),
                         "cast 'q' back before the call, e.g. '.to(k.dtype)'")

    def test_a_caller_that_makes_the_module_takes_no_fix_away(self):
        fixes = [fix["title"] for fix in self.only(MODULE)["fixes"]]
        self.assertEqual(fixes, ["cast back to the dtype of 'q' after the float32 arithmetic"])
        caller = "\n\ndef run(data):\n    return Attention()(data.q, data.k)\n"
        self.assertEqual([fix["title"] for fix in self.only(MODULE + caller)["fixes"]], fixes)

    def fixes(self, body):
        return [edit["replacement"] for fix in self.only(HEAD + body)["fixes"] for edit in fix["edits"]]

    def test_what_a_call_takes_by_keyword_is_cast_there(self):
        self.assertEqual(self.fixes("def attend(q: Tensor, k: Tensor, v: Tensor):\n    q = q.float()\n"
                                    "    return flash_attn_func(\n        q = q,\n        k=k, v=v)\n"), [".to(k.dtype)"])

    def test_a_long_expression_is_cut_between_characters(self):
        for gap in ("", "\n        "):  # as it stands, and from several lines
            for shift in range(4):
                text = "\U0001f600" * 40
                self.write(attend__py=HEAD + f"def attend(q: Tensor, k: Tensor):\n    q = F.normalize(q, eps=len({gap}'{'x' * shift}{text}'))\n"
                                             "    return flash_attn_func(q, k, k)\n")
                run = self.lint("--dump-flow", "attend.py")  # decoded strictly
                self.assertIn("F.normalize(q, eps=len(", run.stdout, run.stderr)

    def test_a_size_has_no_dtype_to_cast_to(self):
        finding = self.only(COUNTED)
        self.assertEqual((finding["rule"], finding["location"]["line"]), ("operator-mixed-dtypes", 13))
        self.assertEqual(finding["fixes"], [])


if __name__ == "__main__":
    unittest.main()
