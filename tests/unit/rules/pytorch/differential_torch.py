"""Compares the rules' predictions with the PyTorch that is installed: promote_types, result_type and a sample of the
operator table, over all dtypes that it has. Usage: differential_torch.py PREDICT_DTYPES. Exits with 77 (skipped) where
PyTorch cannot be imported."""
import itertools
import subprocess
import sys
import warnings

warnings.filterwarnings("ignore")
try:
    import torch
except ImportError as error:
    print(f"skipped: PyTorch cannot be imported by {sys.executable}: {error}")
    sys.exit(77)

VERSION = ".".join(torch.__version__.split("+")[0].split(".")[:2])
MODERN = tuple(int(part) for part in VERSION.split(".")) >= (2, 0)

ALL = ("uint8 int8 int16 int32 int64 float16 float32 float64 complex32 complex64 complex128 bool qint8 quint8 qint32 "
       "bfloat16 quint4x2 quint2x4 bits1x8 bits2x4 bits4x2 bits8 bits16 float8_e5m2 float8_e4m3fn float8_e5m2fnuz "
       "float8_e4m3fnuz uint16 uint32 uint64 uint1 uint2 uint3 uint4 uint5 uint6 uint7 int1 int2 int3 int4 int5 int6 "
       "int7 float8_e8m0fnu float4_e2m1fn_x2").split()
DTYPES = [name for name in ALL if hasattr(torch, name)]
WRAPPED = {"bool": True, "int64": 3, "float64": 1.5, "complex128": 1j}
# What operators are asked about; complex and the small integers add nothing here but missing kernels.
SAMPLE = "uint8 int32 int64 float16 bfloat16 float32 float64 bool".split()

# A kernel that a build lacks says nothing about dtypes.
NO_KERNEL = ("not implemented for", "not supported for", "unsupported", "does not support", "is not supported",
             "could not be converted", "only supports", "only support")


def named(dtype):
    return str(dtype).replace("torch.", "")


def tensor(dtype, rank):
    shape = {"dim": (2, 2), "zero": ()}[rank]
    return torch.ones(shape).to(getattr(torch, dtype))


def observe(compute):
    """The dtype that `compute` gives, "throws", or None where this build has no kernel for it."""
    try:
        return named(compute())
    except Exception as error:  # PyTorch throws many types
        text = str(error)
        if isinstance(error, NotImplementedError) or any(word in text for word in NO_KERNEL):
            return None
        return "throws"


def result_dtype(result):
    return (result[0] if isinstance(result, (tuple, list)) else result).dtype


class Comparison:
    def __init__(self):
        self.questions, self.observed = [], []

    def ask(self, question, observed):
        if observed is not None:
            self.questions.append(question)
            self.observed.append(observed)

    def mismatches(self, program):
        run = subprocess.run([program], input="\n".join(self.questions) + "\n", capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(run.stderr)
        for question, observed, predicted in zip(self.questions, self.observed, run.stdout.splitlines()):
            predicted = "throws" if predicted == "undefined" else predicted
            if predicted != observed:
                yield f"{question}: PyTorch {torch.__version__} gives {observed}, the rules predict {predicted}"


def ask_promote_types(comparison):
    for a, b in itertools.product(DTYPES, DTYPES):
        try:
            observed = named(torch.promote_types(getattr(torch, a), getattr(torch, b)))
        except RuntimeError:
            observed = "throws"
        comparison.ask(f"promote {a} {b}", "throws" if observed == "undefined" else observed)


def operands():
    """Every dtype as a tensor of each rank class that can be made, then the wrapped numbers."""
    for dtype, rank in itertools.product(DTYPES, ("dim", "zero")):
        try:
            yield dtype, rank, torch.empty((1,) if rank == "dim" else (), dtype=getattr(torch, dtype))
        except Exception:  # quantized dtypes need a quantizer
            continue
    for dtype, number in WRAPPED.items():
        yield dtype, "wrapped", number


def ask_result_type(comparison):
    for (a, rank_a, x), (b, rank_b, y) in itertools.product(list(operands()), repeat=2):
        if rank_a == "wrapped" and rank_b == "wrapped":
            continue
        try:
            observed = named(torch.result_type(x, y))
        except RuntimeError:
            observed = "throws"
        comparison.ask(f"result_type {a}:{rank_a} {b}:{rank_b}", "throws" if observed == "undefined" else observed)


BINARY = {
    "add": torch.add, "mul": torch.mul, "div": torch.div, "pow": torch.pow,
    "eq": torch.eq, "lt": torch.lt, "mul_": lambda a, b: a.mul_(b), "add_": lambda a, b: a.add_(b),
    "div_": lambda a, b: a.div_(b),
}
BINARY_TENSORS = {
    "maximum": torch.maximum, "minimum": torch.minimum, "atan2": torch.atan2,
    "lerp": lambda a, b: torch.lerp(a, b, 0.5), "type_as": lambda a, b: a.type_as(b),
    "where": lambda a, b: torch.where(torch.ones((2, 2), dtype=torch.bool), a, b),
    "copy_": lambda a, b: a.copy_(b), "masked_fill": lambda a, b: a.masked_fill(torch.ones(2, 2) > 0, b),
}
MATRIX = {
    "matmul": torch.matmul, "mm": torch.mm, "linear": torch.nn.functional.linear,
    "einsum": lambda a, b: torch.einsum("ij,jk->ik", a, b),
}
LISTS = {"cat": lambda a, b: torch.cat([a, b]), "stack": lambda a, b: torch.stack([a, b])}
UNARY = ("neg abs exp log sqrt rsqrt sin cos tanh sigmoid reciprocal square floor relu silu gelu isnan logical_not "
         "sum prod cumsum mean softmax amax argmax all clone contiguous t unsqueeze select chunk view_as_complex "
         "zeros_like norm layer_norm normalize half float dropout sgn erf log1p").split()
ARGUMENTS = {
    "cumsum": (0,), "softmax": (0,), "unsqueeze": (0,), "select": (0, 0), "chunk": (2,), "layer_norm": ((2,),),
}
FUNCTIONS = {
    "layer_norm": torch.nn.functional.layer_norm, "normalize": torch.nn.functional.normalize,
    "silu": torch.nn.functional.silu, "gelu": torch.nn.functional.gelu, "dropout": torch.nn.functional.dropout,
    "view_as_complex": torch.view_as_complex, "zeros_like": torch.zeros_like,
    "contiguous": torch.Tensor.contiguous, "half": torch.Tensor.half, "float": torch.Tensor.float,
}
FIRST_ARGUMENT = {"layer_norm": "input", "normalize": "input", "dropout": "input"}
# Floating-point operators: an integer input is an error of the kernel, which the table does not describe.
FLOATING_ONLY = "mean softmax norm layer_norm normalize silu gelu dropout view_as_complex rms_norm".split()
SECOND_ARGUMENT = {"pow": "exponent", "lerp": "end", "where": "other", "copy_": "src", "masked_fill": "value",
                   "mm": "mat2", "linear": "weight"}
FIRST_OF_TWO = {"linear": "input", "einsum": "tensors", "cat": "tensors", "stack": "tensors"}


def ask_operator(comparison, name, inputs, compute, autocast="-"):
    written = " ".join(f"{argument}:{dtype}:{rank}" for argument, dtype, rank in inputs)
    comparison.ask(f"op {name} - cpu {autocast} {VERSION} {written}", observe(compute))


def pair_arguments(name):
    first = FIRST_OF_TWO.get(name, "self")
    return first, first if first == "tensors" else SECOND_ARGUMENT.get(name, "other")


def ask_pairs(comparison, autocast="-"):
    tables = ((BINARY, ("dim", "zero", "wrapped")), (BINARY_TENSORS, ("dim", "zero")), (MATRIX, ("dim",)),
              (LISTS, ("dim",)))
    for table, ranks in tables:
        for name, function in table.items():
            first, second = pair_arguments(name)
            for a, b, rank_b in itertools.product(SAMPLE, list(SAMPLE) + ["complex128"], ranks):
                if rank_b == "wrapped" and b not in WRAPPED or rank_b != "wrapped" and b == "complex128":
                    continue
                if name == "masked_fill" and rank_b != "zero" or name == "lerp" and "float" not in a + b:
                    continue
                x = tensor(a, "dim")
                y = WRAPPED[b] if rank_b == "wrapped" else tensor(b, rank_b)
                ask_operator(comparison, name, [(first, a, "dim"), (second, b, rank_b)],
                             lambda: result_dtype(function(x, y)), autocast)


def ask_unary(comparison, autocast="-"):
    for name, dtype in itertools.product(UNARY, SAMPLE):
        if name in FLOATING_ONLY and "float" not in dtype:
            continue
        x = tensor(dtype, "dim")
        function = FUNCTIONS.get(name) or getattr(torch, name)
        ask_operator(comparison, name, [(FIRST_ARGUMENT.get(name, "self"), dtype, "dim")],
                     lambda: result_dtype(function(x, *ARGUMENTS.get(name, ()))), autocast)


def ask_several(comparison):
    floating = ("float16", "bfloat16", "float32", "float64")
    for a, b, c in itertools.product(floating, repeat=3):
        x, y, z = tensor(a, "dim"), tensor(b, "dim"), tensor(c, "dim")
        ask_operator(comparison, "addcmul", [("self", a, "dim"), ("tensor1", b, "dim"), ("tensor2", c, "dim")],
                     lambda: torch.addcmul(x, y, z).dtype)
    for a, low, high in itertools.product(floating, floating, floating):
        x, low_end, high_end = tensor(a, "dim"), tensor(low, "zero"), tensor(high, "dim")
        ask_operator(comparison, "clamp", [("self", a, "dim"), ("min", low, "zero"), ("max", high, "dim")],
                     lambda: torch.clamp(x, low_end, high_end).dtype)


def ask_norm_weights(comparison):
    """A norm's weight may be wider than its input and does not widen the result."""
    for name in ("layer_norm", "rms_norm"):
        function = getattr(torch.nn.functional, name, None)
        for a, weight in itertools.product(("float16", "bfloat16", "float32"), ("float32",)):
            x, w = tensor(a, "dim"), torch.ones(2, dtype=getattr(torch, weight))
            if function is None or not MODERN and a != weight:  # refused by older kernels
                continue
            ask_operator(comparison, name, [("input", a, "dim"), ("weight", weight, "dim")],
                         lambda: function(x, (2,), w).dtype)


def ask_factories(comparison):
    for name, compute, inputs in (
            ("arange", lambda: torch.arange(0, 4), [("start", "int64"), ("end", "int64")]),
            ("arange", lambda: torch.arange(0, 4.0), [("start", "int64"), ("end", "float64")]),
            ("full", lambda: torch.full((2,), 1), [("fill_value", "int64")]),
            ("full", lambda: torch.full((2,), 1.0), [("fill_value", "float64")]),
            ("full", lambda: torch.full((2,), True), [("fill_value", "bool")]),
            ("tensor", lambda: torch.tensor([1, 2.5]), [("data", "int64"), ("data", "float64")]),
            ("tensor", lambda: torch.tensor([True]), [("data", "bool")]),
            ("zeros", lambda: torch.zeros(2), []), ("linspace", lambda: torch.linspace(0, 1, 3), []),
            ("randint", lambda: torch.randint(4, (2,)), [])):
        ask_operator(comparison, name, [(argument, dtype, "wrapped") for argument, dtype in inputs],
                     lambda: compute().dtype)


def main():
    comparison = Comparison()
    ask_promote_types(comparison)
    ask_result_type(comparison)
    ask_pairs(comparison)
    ask_unary(comparison)
    ask_several(comparison)
    ask_norm_weights(comparison)
    ask_factories(comparison)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        ask_pairs(comparison, "bfloat16")
        ask_unary(comparison, "bfloat16")
    mismatches = list(comparison.mismatches(sys.argv[1]))
    print("\n".join(mismatches[:60]))
    print(f"{len(comparison.questions)} questions to PyTorch {torch.__version__}, {len(mismatches)} mismatches")
    sys.exit(1 if mismatches else 0)


main()
