"""Prints the operators of PyTorch's own references (torch._refs) that the operator table lacks, and fails when there
are any. Usage: refs_coverage.py PREDICT_DTYPES. Exits with 77 (skipped) where PyTorch 2.x cannot be imported."""
import importlib
import subprocess
import sys
import warnings

warnings.filterwarnings("ignore")
MODULES = {"torch._refs": "torch.", "torch._refs.special": "torch.special.", "torch._refs.linalg": "torch.linalg.",
           "torch._refs.nn.functional": "torch.nn.functional.", "torch._refs.fft": "torch.fft."}
# Names that no entry can or should have. Reviewed: each gives a reason.
EXCLUDED = {
    "torch.broadcast_shapes": "takes and returns sizes, no tensor",
    "torch.copy_to": "a name of the references only; Tensor.copy_ is in the table",
    "torch.is_complex": "returns a Python bool that tells about a dtype",
    "torch.item": "returns a Python number, which promotion treats as wrapped",
    "torch.rfloordiv": "a name of the references only; Python's reflected // is floor_divide",
    "torch.rpow": "a name of the references only; Python's reflected ** is pow",
    "torch.rtruediv": "a name of the references only; Python's reflected / is __rtruediv__",
    "torch.swap_axes": "a name of the references only; swapaxes is in the table",
    "torch.trunc_divide": "a name of the references only; div(rounding_mode='trunc') is div.rounded",
}


def references():
    for module, prefix in MODULES.items():
        yield from (prefix + name for name in importlib.import_module(module).__all__)


def main():
    try:
        names = sorted(references())
    except ImportError as error:
        print(f"skipped: {sys.executable} has no PyTorch with complete references: {error}")
        sys.exit(77)
    except AttributeError as error:
        print(f"skipped: the references of this PyTorch do not list their names: {error}")
        sys.exit(77)
    run = subprocess.run([sys.argv[1]], input="".join(f"known {name}\n" for name in names), capture_output=True,
                         text=True, check=True)
    missing = [name for name, known in zip(names, run.stdout.splitlines()) if known == "no" and name not in EXCLUDED]
    stale = sorted(name for name in EXCLUDED if name not in names)
    print("\n".join(["no entry: " + name for name in missing] + ["excluded but no reference: " + n for n in stale]))
    print(f"{len(names)} references, {len(EXCLUDED)} excluded, {len(missing)} without an entry")
    sys.exit(1 if missing or stale else 0)


main()
