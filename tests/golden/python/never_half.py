"""What was never half going into a layer: possible, and an error where the user says that the layers are half.

    never_half.py DTYPE_LINT
"""
import pathlib
import subprocess
import sys
import tempfile

LINT = str(pathlib.Path(sys.argv[1]).resolve())
MODEL = """import torch
import torch.nn as nn
import torch.nn.functional as F


def waves(positions):
    angles = positions[:, None].float() * torch.arange(1, 33, device=positions.device)
    return torch.cat([angles.cos(), angles.sin()], dim=-1)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.time = nn.Linear(64, 64)
        self.label = nn.Linear(64, 64)

    def forward(self, x, timesteps, labels):
        time = self.time(waves(timesteps)TIME)
        label = self.label(waves(labels))  # here
        return F.scaled_dot_product_attention(x, x, x) + time + label
"""


def said(time, *options):
    """The lines that open a finding, each with its level."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.py"
        path.write_text(MODEL.replace("TIME", time), encoding="utf-8")
        run = subprocess.run([LINT, "--no-cache", "--root", folder, *options, path], capture_output=True, text=True, cwd=folder)
    levels = ("error: ", "warning: possibly: ")
    return [(line.split(":")[1], level.split(":")[0]) for line in run.stdout.splitlines() for level in levels
            if f": {level}" in line]


def check(name, got, wanted):
    if got != wanted:
        sys.exit(f"{name}: {got}, expected {wanted}")


check("as a model under autocast alone has it", said(""), [])
check("the same with --strict", said("", "--strict"), [("18", "warning"), ("19", "warning")])
check("under a setting that the user names", said("", "--precision=fp16"), [("18", "error"), ("19", "error")])
check("beside one that is cast", said(".to(x.dtype)", "--strict"), [("19", "warning")])
check("one that is cast to float32 for its layer", said(".to(torch.float32)", "--precision=fp16"), [("19", "error")])
print("as expected")
