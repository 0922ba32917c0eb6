"""Compares the library modules of modules.json with those that libtorch's headers declare: each has a row or a reason here,
and each row is a module of libtorch, or stands here as one of Python's alone. Usage: library_modules.py MODULES_JSON INCLUDE_FOLDER... Exits with 77 (skipped) where no
folder has libtorch's headers."""
import json
import pathlib
import re
import sys

# Reviewed; a reason for a module that has a row, or that libtorch does not have, fails.
WITHOUT_A_ROW = {
    "Transformer TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer": "networks of the modules above",
    "AdaptiveLogSoftmaxWithLoss": "gives a struct",
    "Upsample": "its mode decides what autocast does, and is an option of the constructor",
    "CrossMapLRN2d": "computes in an autograd function of its own",
    "BCELoss BCEWithLogitsLoss CTCLoss CosineEmbeddingLoss CrossEntropyLoss HingeEmbeddingLoss HuberLoss KLDivLoss L1Loss MSELoss "
    "MarginRankingLoss MultiLabelMarginLoss MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss PoissonNLLLoss SmoothL1Loss SoftMarginLoss "
    "TripletMarginLoss TripletMarginWithDistanceLoss": "losses come after attention",
    "Functional": "a function of the program's own, or one that an operator's row has",
    "Sequential": "runs what is in it: library_forward.cpp",
    "ModuleList ModuleDict ParameterList ParameterDict": "containers: what is in them decides",
}
# Rows that these headers have no module for; a reason for one that they have fails.
OF_PYTHON_ALONE = "Hardswish Hardsigmoid ChannelShuffle Dropout1d ZeroPad1d ZeroPad3d CircularPad1d CircularPad2d CircularPad3d " \
                  "SyncBatchNorm"
# Of releases behind Debian's.
LATER = {"LPPool3d", "RMSNorm"}


def declared(folders):
    for folder in folders:
        modules = pathlib.Path(folder) / "torch" / "nn" / "modules"
        for header in sorted(modules.rglob("*.h")) if modules.is_dir() else ():
            text = header.read_text(encoding="utf-8", errors="replace")
            yield from re.findall(r"^TORCH_MODULE\((\w+)\);", text, re.M)
            yield from re.findall(r"^class (?:\w+ )?(\w+)\s*: public (?:torch::nn::)?ModuleHolder<", text, re.M)


def main():
    rows = {name.removeprefix("torch::nn::") for row in json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))["modules"]
            for name in row["types"]}
    modules = set(declared(sys.argv[2:]))
    if not modules:
        print("skipped: no folder of", *sys.argv[2:], "has torch/nn/modules")
        sys.exit(77)
    of_python = set(OF_PYTHON_ALONE.split())
    excused = {name for names in WITHOUT_A_ROW for name in names.split()}
    wrong = [f"{name}: a module of libtorch without a row or a reason" for name in sorted(modules - rows - excused)]
    wrong += [f"{name}: a row, and no module of this libtorch" for name in sorted(rows - modules - of_python - LATER)]
    wrong += [f"{name}: excused for nothing" for name in sorted(excused & rows | excused - modules | of_python & modules | of_python - rows)]
    print("\n".join(wrong + [f"{len(modules)} modules, {len(modules & rows)} with a row, {len(excused)} excused"]))
    sys.exit(1 if wrong else 0)


main()
