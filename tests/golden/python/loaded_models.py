"""Models that transformers loads in float32 while flash attention is asked for. Where they are run outside of autocast the call
is refused; where nothing runs them it is only possible. Truth: tests/golden/python/constructs/model_of_auto_classes.py.

    loaded_models.py DTYPE_LINT
"""
import json
import unittest

from command_line import Case

IMPORTS = "import torch\nfrom transformers import AutoModelForCausalLM as Auto\nfrom trainers import prepare\n\n\n"
LOAD = "model = Auto.from_pretrained(name, torch_dtype=torch.float32, attn_implementation='flash_attention_2')"
RUNS = {  # what a function does with it, and whether that is refused for certain
    "model(tokens)": True,
    "model.eval().to('cuda').generate(input_ids=tokens, max_new_tokens=4)": True,
    "with torch.inference_mode(): model.generate(tokens)": True,
    "with torch.autocast('cuda', dtype=torch.bfloat16): model(tokens)": False,
    "model.half()(tokens)": False,
    "model.to(torch.bfloat16).generate(tokens)": False,
    "prepare(model); model(tokens)": False,
    "prepare(model)(tokens)": False,
}
SILENT = {"with torch.autocast('cuda', dtype=torch.bfloat16): model(tokens)", "model.half()(tokens)", "model.to(torch.bfloat16).generate(tokens)",
          "prepare(model); model(tokens)", "prepare(model)(tokens)"}  # another precision is stated, or may be
BESIDE = {  # what stands elsewhere in the project, and whether the load is still possible
    "def step(model, x):\n    with torch.autocast('cuda', dtype=torch.bfloat16): return model(x)\n": False,
    "def step(model, x):\n    with torch.autocast('cuda', enabled=False): return model(x)\n": True,
    "@torch.autocast('cuda', dtype=torch.float16)\ndef step(model, x): return model(x)\n": False,
    "def prepared(model): return model.half()\n": False,
    "def prepared(model: torch.nn.Module, dtype): return model.to(dtype=dtype)\n": False,
    "def prepared(model, device): return model.to(device).eval()\n": True,
    "from transformers import TrainingArguments\ndef options(): return TrainingArguments('out', bf16=True)\n": False,
    "from transformers import HfArgumentParser, TrainingArguments\ndef options(): return HfArgumentParser(TrainingArguments)\n": False,
    "import transformers\ndef train(model, data): transformers.Trainer(model=model, train_dataset=data).train()\n": False,
    "from trl import SFTTrainer\ndef train(model, data): SFTTrainer(model, train_dataset=data).train()\n": False,
    "from accelerate import Accelerator\naccelerator = Accelerator(mixed_precision='bf16')\n": False,
    "from accelerate import init_empty_weights\ndef empty(): return init_empty_weights()\n": True,
    "import deepspeed\ndef engine(model, config): return deepspeed.initialize(model=model, config=config)\n": False,
    "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP\ndef sharded(model, policy): return FSDP(model, mixed_precision=policy)\n": False,
    "from torch.distributed.fsdp import fully_shard\ndef sharded(model, policy): fully_shard(model, mp_policy=policy)\n": False,
    "import lightning as L\ndef fit(module): L.Trainer(precision='bf16-mixed').fit(module)\n": False,
    "def fit(model, losses): return sum(losses) / len(losses)\n": True,
}
ASKED = {  # how it is asked for, and whether that is wrong for certain or at all
    "torch_dtype=torch.float32, attn_implementation='flash_attention_2'": True,
    "dtype=torch.float32, attn_implementation='flash_attention_2'": True,
    "torch_dtype=torch.bfloat16, attn_implementation='flash_attention_2'": False,
    "torch_dtype='auto', attn_implementation='flash_attention_2'": False,
    "attn_implementation='flash_attention_2'": False,
    "torch_dtype=torch.float32, attn_implementation='sdpa'": False,
    "torch_dtype=torch.float32": False,
    "torch_dtype=torch.float16 if 'AWQ' in name else 'auto', attn_implementation='flash_attention_2'": False,
    "torch_dtype=name.dtype, attn_implementation='flash_attention_2'": False,
    "**options": False,
}


AFTER = """import torch
from flash_attn import flash_attn_func
from transformers import AutoModel


def run(name, tokens, x: torch.Tensor):
    model = AutoModel.from_pretrained(name, attn_implementation="flash_attention_2")
    model.config.use_cache = False
    hidden = model(tokens, output_hidden_states=True).last_hidden_state
    ids = model.generate(tokens)[:, model.config.prefix :]
    if ids.shape[1] > hidden.shape[1]:
        return flash_attn_func(x.float(), x, x)
    return hidden
"""


def program(load, then):
    return f"{IMPORTS}def run(name, tokens, **options):\n    {load}\n    {then}\n"


class LoadedModels(Case):
    def findings(self, text, *arguments):
        self.write(a__py=text)
        run = self.lint("--format=json", "--strict", *arguments, "a.py")
        self.assertIn(run.returncode, (0, 1), run.stdout + run.stderr)
        found = json.loads(run.stdout)["findings"]
        self.assertLessEqual({each["location"]["line"] for each in found}, {7})
        certain = {each["rule"] for each in found if each["certainty"] == "definite"}
        self.assertLessEqual(certain, {"attention-unsupported-dtype"})
        return {each["certainty"] for each in found}

    def test_a_run_in_sight(self):
        for then, is_refused in RUNS.items():
            with self.subTest(then):
                found = self.findings(program(LOAD, then), "--precision=bf16")
                self.assertEqual("definite" in found, is_refused)

    def test_where_no_setting_is_asked_for_a_load_is_possible(self):
        self.assertLess(SILENT, set(RUNS))
        for then in RUNS:
            with self.subTest(then):
                self.assertEqual(self.findings(program(LOAD, then)), set() if then in SILENT else {"possible"})

    def test_a_precision_that_is_stated_elsewhere(self):
        for beside, is_possible in BESIDE.items():
            with self.subTest(beside):
                text = program(LOAD, "return model") + "\n\n" + beside
                self.assertEqual(self.findings(text), {"possible"} if is_possible else set())
                self.write(b__py="import torch\n" + beside)
                self.assertEqual(self.findings(program(LOAD, "return model"), "b.py"), {"possible"} if is_possible else set())

    def test_what_follows_is_seen(self):
        self.write(a__py=AFTER)
        found = self.report("a.py", status=1)["findings"]
        self.assertEqual([(each["certainty"], each["location"]["line"]) for each in found], [("definite", 12)])

    def test_how_it_is_loaded(self):
        for given, is_wrong in ASKED.items():
            with self.subTest(given):
                load = f"model = Auto.from_pretrained(name, {given})"
                self.assertEqual(self.findings(program(load, "return model")), {"possible"} if is_wrong else set())
                found = self.findings(program(load, "return model(tokens)"), "--precision=bf16")
                self.assertEqual("definite" in found, is_wrong)


if __name__ == "__main__":
    unittest.main()
