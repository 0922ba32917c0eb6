"""The test of plant_python.py: in a repository of one module it finds what it may plant, PyTorch sees it arrive, and
dtype-lint finds it there.

    check_plant_python.py DTYPE_LINT PYTHON_WITH_TORCH
"""
import json
import pathlib
import subprocess
import sys
import tempfile

MODULE = """import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.register_buffer("table", torch.ones(dim // 4))

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).transpose(1, 3).unbind(2)
        q = (q * self.table).to(v.dtype)
        return nn.functional.scaled_dot_product_attention(q, k, v)
"""


def main():
    tool, python = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        repository = pathlib.Path(folder) / "repositories" / "one"
        repository.mkdir(parents=True)
        (repository / "model.py").write_text(MODULE, encoding="utf-8")
        record = pathlib.Path(folder) / "record.json"
        run = subprocess.run([sys.executable, pathlib.Path(__file__).with_name("plant_python.py"), "--tool", tool, "--python", python,
                              "--repositories", repository.parent, "--half", "both", "--record", record], capture_output=True, text=True)
        assert run.returncode == 0, run.stdout + run.stderr
        plants = json.loads(record.read_text(encoding="utf-8"))
    got = sorted((each["kind"], each["line"], each["calls"], each["verdict"], each["before"]) for each in plants)
    wanted = [("cache", 15, [15], "exact", 0), ("cast", 14, [15], "exact", 0), ("norm", 15, [15], "exact", 0),
              ("scale", 15, [15], "exact", 0), ("table", 15, [15], "exact", 0)]
    assert got == wanted, f"{got}\n{run.stdout}{run.stderr}"
    assert "0 definite findings in 1 unplanted files" in run.stdout, run.stdout


main()
