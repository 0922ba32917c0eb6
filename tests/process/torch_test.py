"""Unmodified PyTorch jobs under dtype-san: the wrong call, the operator that widened and its Python line; right models are
silent, and what they compute is the same to the last bit."""
import json
import pathlib
import re

from support import BUILT, Case, main, marked_line, operands
from torch_support import PYTHON, skip_without_torch

PROGRAMS = pathlib.Path(BUILT["source"]) / "programs"
JOBS = pathlib.Path(BUILT["torch_jobs"])
FLOAT, LOW = "float32", "bfloat16"


class Torch(Case):
    def watched(self, program, *words, options="", **changes):
        """Without and with dtype-san: the same output and exit status; gives the output and the report."""
        plain = self.execute(PYTHON, PROGRAMS / program, *words, **changes)
        done, report = self.run_command(PYTHON, PROGRAMS / program, *words, options=(f"--options={options or 'torch=auto'}",), **changes)
        self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout), done.stderr)
        self.text = done.stderr
        return done.stdout, report

    def source(self, report):
        [source] = [one for one in report["watched"]["sources"] if one["name"] == "torch"]
        return source

    def notes(self, report):
        return [one["detail"] for one in report["not_analysed"] if one["reason"] == "note"]

    def checked(self, report):
        return sum(count for api, count in report["watched"]["calls"].items() if not api.startswith("flash_ref"))

    def watched_all(self, program, cases):
        """All cases in one job, which takes as long to begin as one: of each the finding that opens at its line, and no others."""
        names = [case[0] for case in cases]
        printed, report = self.watched(program, *names)
        found = {self.opening(finding): finding for finding in report["findings"]}
        places = [(program, marked_line(program, name)) for name in names]
        self.assertEqual(sorted(self.opening(finding) for finding in report["findings"]), sorted(places))
        return printed, [(case, found[place]) for case, place in zip(cases, places)]

    def opening(self, finding):
        """File and line with which the report of a finding begins."""
        return pathlib.Path(finding["location"]["file"]).name, finding["location"]["line"]

    def test_origins(self):
        program = "torch_origins.py"
        cases = (("promoted", "promoted by aten::mul(bfloat16, float32)"), ("promoted_and_kept", "kept so by aten::to(float32)"),
                 ("promoted_and_normed", "promoted by aten::mul(bfloat16, float32)"),
                 ("promoted_and_normed_often", "promoted by aten::add(bfloat16, float32)"),
                 ("two_halves", "promoted by aten::add(bfloat16, float16)"),
                 ("cast", "cast by aten::to(bfloat16)"),
                 ("made", "made by aten::zeros()"),
                 ("through_views_and_in_place", "promoted by aten::add(bfloat16, float32)"),
                 ("number_of_no_dimension", "cast by aten::to(bfloat16)"), ("stacked", "promoted by aten::stack(bfloat16, float32)"),
                 ("recycled", "made by aten::empty()"), ("on_a_thread", "promoted by aten::mul(bfloat16, float32)"),
                 ("without_gradients", "promoted by aten::mul(bfloat16, float32)"),
                 ("in_a_loop", "promoted by aten::mul(bfloat16, float32)"))
        for (name, step), finding in self.watched_all(program, cases)[1]:
            with self.subTest(name=name):
                self.assertEqual((finding["rule"], finding["api"]), ("attention-mixed-dtypes", "scaled_dot_product_attention"))
                self.assertEqual(operands(finding), {"q": FLOAT, "k": LOW, "v": LOW})
                self.assertEqual([sink["role"] for sink in finding["sinks"]], ["q"])
                self.assertIn(f"'q' is {step}", finding["path"][-1]["note"])
                self.assertEqual(finding["count"], {"recycled": 50, "in_a_loop": 20}.get(name, 1))

    def test_the_operand_that_was_as_wide(self):
        """A table, a parameter or a cache: the note says where it came from, for that line may be the one to edit."""
        program = "torch_origins.py"
        for name, came in (("promoted", "made by aten::ones()"), ("by_a_cast_table", "cast by aten::to(bfloat16)"), ("cast_and_normed", "cast by aten::to(bfloat16)")):
            with self.subTest(name=name):
                _, report = self.watched(program, name)
                [finding] = report["findings"]
                self.assertEqual(self.opening(finding), (program, marked_line(program, name)))
                self.assertRegex(finding["path"][0]["note"], rf"; its float32 operand was {re.escape(came)} at .*{program}:{marked_line(program, 'table: ' + name)}$")

    def test_the_way_through_a_norm(self):
        """The line where the dtype came in is the one to edit; the norm's are steps of the way, and its casts that change nothing begin none."""
        program = "torch_origins.py"
        for name, steps in (("promoted_and_normed", ["mul", "to", "mul"]), ("promoted_and_normed_often", ["mul", "mul", "add"])):
            with self.subTest(name=name):
                _, report = self.watched(program, name)
                [finding] = report["findings"]
                self.assertEqual(self.opening(finding), (program, marked_line(program, name)))
                self.assertEqual([step["operator"] for step in finding["path"]], [f"aten::{step}" for step in steps])
                self.assertTrue(finding["path"][0]["note"].startswith("promoted by aten::mul(bfloat16, float32); its float32 operand was made by aten::ones() at "))

    def test_a_line_that_is_called_from_several_places(self):
        """Is one finding, with a stack for each way to the call and the counts of all, a child's too."""
        program = "torch_origins.py"
        _, report = self.watched(program, "from_several_places")
        found = {self.opening(finding): finding for finding in report["findings"]}
        self.assertEqual(sorted(self.opening(finding) for finding in report["findings"]),
                         sorted((program, marked_line(program, name)) for name in ("from_several_places", "made_in_several_places")))
        for name, count, processes in (("from_several_places", 3, 2), ("made_in_several_places", 2, 1)):
            with self.subTest(name=name):
                finding = found[program, marked_line(program, name)]
                self.assertEqual((finding["count"], len(finding["stacks"]), len(finding["occurrences"])), (count, count - 1, processes))
                self.assertEqual([sink["role"] for sink in finding["sinks"]], ["q"])
                callers = {frame["function"] for stack in (finding["backtrace"], *(each["backtrace"] for each in finding["stacks"])) for frame in stack}
                self.assertGreaterEqual(callers, {"encoder", "decoder"})

    def test_one_step_of_several_operands(self):
        program = "torch_origins.py"
        _, report = self.watched(program, "both")
        [finding] = report["findings"]
        self.assertEqual([sink["role"] for sink in finding["sinks"]], ["q", "k"])
        self.assertTrue(finding["path"][-1]["note"].startswith("'q' and 'k' are promoted by aten::mul(bfloat16, float32)"), finding["path"])

    def test_code_that_is_freed(self):
        """Another code lies at its address later: each finding opens at its own line."""
        _, report = self.watched("torch_origins.py", "in_cells")
        self.assertEqual(sorted(self.opening(finding) for finding in report["findings"]), [("cell.py", line) for line in range(1, 21)])

    def test_of_unknown_memory_no_origin_is_claimed(self):
        _, report = self.watched("torch_origins.py", "unknown")
        [finding] = report["findings"]
        self.assertEqual(finding.get("path", []), [])
        self.assertIsNone(finding["operands"][0]["origin"])
        [note] = [one["detail"] for one in report["not_analysed"] if one["reason"] == "note"]
        self.assertRegex(note, "^which operator made 'q' of scaled_dot_product_attention 'float32' is not known: it is older than the watching")
        self.assertRegex(note, f"; it is of shape 1x2x8x16; the first use of its memory .*, which is not its origin, is 'aten::view' at .*"
                               f"torch_origins.py:{marked_line('torch_origins.py', 'used')} .unknown.$")
        self.assertEqual(finding["sinks"][0]["function"], "attend")

    def test_a_call_that_is_first_seen_without_an_origin(self):
        """As that in which a job is joined: it hides none of those behind it, which are the same finding."""
        program = "torch_origins.py"
        _, report = self.watched(program, "first_unknown")
        [finding] = report["findings"]
        self.assertEqual((self.opening(finding), finding["count"]), ((program, marked_line(program, "first_unknown")), 5))
        self.assertEqual(self.notes(report), [])

    def test_more_names_than_there_is_room_for(self):
        """Names of what no contract speaks of take no room from the others."""
        _, report = self.watched("torch_many_names.py")
        self.assertEqual([self.opening(finding) for finding in report["findings"]], [("torch_many_names.py", marked_line("torch_many_names.py", "many_names"))])
        self.assertEqual(self.checked(report), 1)

    def test_without_origins(self):
        for options in ("torch=contracts", "origins=0"):
            with self.subTest(options=options):
                _, report = self.watched("torch_origins.py", "promoted", options=options)
                [finding] = report["findings"]
                self.assertEqual((finding.get("path", []), self.checked(report)), ([], 1))
                self.assertIn("torch=contracts", self.source(report)["why"])

    def test_off(self):
        _, report = self.watched("torch_origins.py", "promoted", options="torch=off")
        self.assertEqual((report["findings"], self.source(report)), ([], {"name": "torch", "on": False, "why": "option torch=off"}))

    def test_frames(self):
        """PyTorch's own are one row in each format for people, and shown where they are asked for; JSON has all."""
        words = PYTHON, PROGRAMS / "torch_origins.py", "promoted"
        files = [f"--format={name}={self.scratch / name}" for name in ("text", "html", "sarif")]
        row = r"\d+ frames? of (lib(torch|c10)\w*\.so(, )?)+"
        for asked, folds in ((), True), (("--frames=folded",), True), (("--frames", "all"), False):
            with self.subTest(asked=asked):
                _, report = self.run_command(*words, options=(*asked, *files))
                [finding] = report["findings"]
                self.assertIn("at::_ops::scaled_dot_product_attention::call", [frame["function"].split("(")[0] for frame in finding["backtrace"]])
                for name in ("text", "html", "sarif"):
                    found = re.findall(row, (self.scratch / name).read_text(encoding="utf-8"))
                    self.assertEqual(bool(found), folds, name)
        done = self.execute(BUILT["command"], "report", "--frames=some", self.scratch)
        self.assertEqual((done.returncode, done.stderr), (2, "dtype-san: --frames: 'some' is none of folded, all; give one of these\n"))

    def test_right_models(self):
        """The same bits without and with, no finding, and each class did call attention."""
        printed, report = self.watched("torch_right_models.py")
        self.assertEqual(report["findings"], [])
        self.assertGreaterEqual(self.checked(report), 40)
        self.assertIn("each call of an attention, rotary or cache operator", self.source(report)["why"])
        self.assertEqual(len(printed.splitlines()), 15)

    def test_flash_attn(self):
        program = "torch_flash.py"
        for name, api, rule, roles in (
                ("wide_key", "flash_attn_func", "attention-mixed-dtypes", ["k"]),
                ("all_wide", "flash_attn_func", "attention-unsupported-dtype", ["q", "k", "v"]),
                ("operator_alone", "_flash_attn_forward", "attention-mixed-dtypes", ["q"]),
                ("wide_input_of_rotary", "flash_attn.layers.rotary.apply_rotary_emb", "rotary-dtype-mismatch", ["cos", "sin"])):
            with self.subTest(name=name):
                _, report = self.watched(program, name)
                [finding] = report["findings"]
                self.assertEqual((finding["api"], finding["rule"]), (api, rule))
                self.assertTrue(finding["message"].endswith("; 'flash_attn' is stood in for here, and did not run itself"), finding["message"])
                self.assertEqual([one["file"] for one in report["not_analysed"] if one["reason"] == "stood-in"], ["flash_attn"])
                self.assertEqual([sink["role"] for sink in finding["sinks"]], roles)
                self.assertEqual(self.opening(finding), (program, marked_line(program, name)))
                if name != "operator_alone":  # whose only frames are the program's
                    self.assertTrue(any("stand_in/flash_attn" in frame["file"] for frame in finding["backtrace"]))
        for name, checked in (("right", 2), ("wide_input_of_newer_rotary", 1)):
            with self.subTest(name=name):
                _, report = self.watched(program, name)
                self.assertEqual((report["findings"], self.checked(report)), ([], checked))
                self.assertIn("; 'flash_attn' was stood in for", self.text)
        _, report = self.watched("torch_origins.py", "promoted")
        self.assertEqual([one for one in report["not_analysed"] if one["reason"] == "stood-in"], [])
        self.assertNotIn("stood in for", self.text)

    def test_operators_that_raise(self):
        program = "torch_raises.py"
        cases = (
                ("behind_a_norm", "aten::linear", "input"), ("bias", "aten::linear", "bias"), ("scores", "aten::matmul", "a"),
                ("weights_times_values", "aten::matmul", "a"), ("by_einsum", "aten::einsum", "a"),
                ("cache", "aten::index_copy_", "source"), ("cache_by_index", "aten::index_put_", "source"),
                ("convolution", "aten::conv1d", "input"), ("double", "aten::linear", "input"), ("norm", "aten::layer_norm", "input"),
                ("transposed_convolution", "aten::conv_transpose1d", "input"))
        printed, found = self.watched_all(program, cases)
        self.assertGreaterEqual(printed.count("RuntimeError"), len(cases))
        for (name, api, role), finding in found:
            with self.subTest(name=name):
                self.assertEqual((finding["rule"], finding["api"]), ("operator-mixed-dtypes", api))
                self.assertEqual([sink["role"] for sink in finding["sinks"]], [role])
        printed, report = self.watched(program, "right")
        self.assertEqual((printed.count("RuntimeError"), report["findings"]), (2, []))
        printed, report = self.watched(program, "right_mixes")
        self.assertEqual((printed.count("RuntimeError"), printed.count("torch.bfloat16"), report["findings"]), (5, 4, []))

    def test_one_promotion_is_one_finding(self):
        program = "torch_raises.py"
        apis = ["scaled_dot_product_attention", "aten::matmul", "aten::linear"]
        for name, lines in (("one_promotion", ["one_promotion"]), ("two_promotions", ["first_promotion", "second_promotion"])):
            with self.subTest(name=name):
                printed, report = self.watched(program, name)
                self.assertEqual(printed.count("RuntimeError"), 3 * len(lines))
                self.assertEqual([self.opening(finding) for finding in report["findings"]], [(program, marked_line(program, line)) for line in lines])
                for finding in report["findings"]:
                    self.assertEqual((finding["rule"], finding["also_rules"], finding["count"]), ("attention-mixed-dtypes", ["operator-mixed-dtypes"], 3))
                    self.assertEqual([sink["api"] for sink in finding["sinks"]], apis)
                    self.assertEqual(sorted(stack["kind"] for stack in finding["stacks"]), ["call", "call"])

    def test_attention_by_hand(self):
        program = "torch_by_hand.py"
        cases = (
                ("wide_scores", "aten::softmax", "scores", "attention-implicit-promotion"),
                ("wide_values", "aten::matmul", "b", "attention-implicit-promotion"),
                ("by_einsum", "aten::softmax", "scores", "attention-implicit-promotion"),
                ("to_device_after", "aten::softmax", "scores", "attention-implicit-promotion"),
                ("fused", "scaled_dot_product_attention", "q", "attention-implicit-promotion"),
                ("var_attention", "scaled_dot_product_attention", "q", "attention-mixed-dtypes"))
        for (name, api, role, rule), finding in self.watched_all(program, cases)[1]:
            with self.subTest(name=name):
                self.assertEqual((finding["rule"], finding["api"]), (rule, api))
                self.assertEqual(finding["level"], "warning" if rule == "attention-implicit-promotion" else "error")
                self.assertEqual([sink["role"] for sink in finding["sinks"]], [role])
        _, report = self.watched(program, "right_eager", "right_float32", "right_autocast", "right_router", "right_cast_table",
                                 "right_cast_before_projection", "right_cast_to_own_fused")
        self.assertEqual((report["findings"], [note for note in self.notes(report) if "by hand" in note]), ([], []))

    def test_casts_that_are_written(self):
        """Of attention by hand they are a note with the cast's line, and no finding."""
        program = "torch_by_hand.py"
        for name, before in (("right_cast_query", LOW), ("right_cast_values", LOW), ("right_cast_to_own", FLOAT)):
            with self.subTest(name=name):
                _, report = self.watched(program, name)
                self.assertEqual(report["findings"], [])
                [note] = self.notes(report)
                self.assertRegex(note, rf"^torch: attention that is written by hand is computed in float32, for aten::to\({before}\) casts what it is "
                                       rf"given at .*{program}:{marked_line(program, name)}: 1 operand. A cast that is written is no finding$")
        _, report = self.watched(program, "right_wide_on_purpose")
        self.assertEqual((report["findings"], len(self.notes(report))), ([], 2))

    def test_contracts_of_its_own(self):
        contracts = {"schema": "dtype-guard/contracts/1", "library": "mine", "apis": [
            {"name": "my_attention", "kind": "attention", "spellings": ["torch.ops.mine.attend"], "operands": [
                {"role": "q", "argument": 1, "accepts": ["half"]}, {"role": "k", "argument": 2, "same_as": "q"},
                {"role": "v", "argument": 3, "same_as": "q"}]},
            {"name": "my_rotary", "kind": "rotary", "spellings": ["mine.rotate"], "autograd_function": {"name": "MyRotary", "tensors": ["x", "cos"]},
             "operands": [{"role": "x", "argument": 0, "accepts": ["floating"]}, {"role": "cos", "argument": 1, "same_as": "x"}]}]}
        file = self.scratch / "mine.json"
        file.write_text(json.dumps(contracts), encoding="utf-8")
        program = "torch_own_calls.py"
        done, report = self.run_command(PYTHON, PROGRAMS / program, options=(f"--contracts={file}", "--options=torch=auto"))
        self.assertEqual(done.returncode, 0, done.stderr)
        found = {finding["api"]: (finding["rule"], self.opening(finding)) for finding in report["findings"]}
        self.assertEqual(found, {"my_attention": ("attention-mixed-dtypes", (program, marked_line(program, "attend"))),
                                 "my_rotary": ("rotary-dtype-mismatch", (program, marked_line(program, "rotate")))})
        self.assertEqual({api: report["watched"]["calls"][api] for api in found}, {"my_attention": 2, "my_rotary": 2})

    def rotary(self, release, how):
        folder = JOBS / f"x-transformers-{release}"
        if not folder.is_dir():
            self.skipTest(f"no {folder}: make test sets it up, or tests/unit/rules/pytorch/torch_jobs.sh BUILD")
        return self.watched("torch_xt_rotary.py", how, PYTHONPATH=str(folder), PYTHONDONTWRITEBYTECODE="1")

    def test_x_transformers_1_30_1(self):
        for how, place, step in (("params", 480, "aten::mul(bfloat16, float32)"), ("xpos", 457, "aten::pow(bfloat16, float32)")):
            with self.subTest(how=how):
                printed, report = self.rotary("1.30.1", how)
                self.assertIn("RuntimeError: Expected query, key, and value to have the same dtype", printed)
                [finding] = report["findings"]
                self.assertEqual(operands(finding), {"q": FLOAT, "k": FLOAT, "v": LOW})
                self.assertEqual([sink["role"] for sink in finding["sinks"]], ["q", "k"])
                self.assertEqual(self.opening(finding), ("x_transformers.py", place))
                self.assertTrue(finding["path"][0]["note"].startswith(f"promoted by {step}; its float32 operand was "), finding["path"][0]["note"])
                notes = [step["note"] for step in finding["path"]]
                for role in "qk":
                    self.assertTrue(any(note.startswith(f"'{role}' is promoted by aten::cat") for note in notes), notes)
                self.assertTrue(finding["sinks"][0]["file"].endswith("attend.py"))
        for how in ("full", "autocast"):
            with self.subTest(how=how):
                printed, report = self.rotary("1.30.1", how)
                self.assertIn("ok, logits torch.bfloat16", printed)
                self.assertEqual((report["findings"], self.checked(report)), ([], 2))

    def test_x_transformers_1_30_2(self):
        for how in ("params", "xpos", "full", "autocast"):
            with self.subTest(how=how):
                printed, report = self.rotary("1.30.2", how)
                self.assertIn("ok, logits torch.bfloat16", printed)
                self.assertEqual((report["findings"], self.checked(report)), ([], 2))
                self.assertIn("no findings; 2 calls to watched kernels: 2 of scaled_dot_product_attention", self.text)


if __name__ == "__main__":
    skip_without_torch()
    main()
