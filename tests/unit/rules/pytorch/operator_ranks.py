"""Asks the PyTorch that runs this script whether what the operator tables say of ranks holds: that a call which does not throw
has at least `least` dimensions and those that `dims` name, and that the result's rank is the one that `rank` says.
Usage: operator_ranks.py OPERATORS_FOLDER. Exits with 77 (skipped) where there is no PyTorch."""
import json
import pathlib
import sys

try:
    import torch
except ImportError as error:
    print(f"skipped: {sys.executable} cannot import PyTorch: {error}")
    sys.exit(77)

FIRST = torch.tensor([0])
RANKS, POSITIONS = range(5), range(-5, 5)


def index_of(x):
    return torch.zeros([1] * x.dim(), dtype=torch.int64)


# Each takes a tensor whose sizes are all 2 and the position of a dimension.
ALONG = {
    "transpose": lambda x, d: x.transpose(d, d),
    "swapaxes": lambda x, d: x.swapaxes(d, 0),
    "swapdims": lambda x, d: x.swapdims(0, d),
    "movedim": lambda x, d: x.movedim(d, 0),
    "moveaxis": lambda x, d: x.moveaxis(0, d),
    "flip": lambda x, d: x.flip(d),
    "rot90": lambda x, d: x.rot90(1, (d, 0)),
    "unsqueeze": lambda x, d: x.unsqueeze(d),
    "unfold": lambda x, d: x.unfold(d, 1, 1),
    "unflatten": lambda x, d: x.unflatten(d, (1, -1)),
    "flatten": lambda x, d: x.flatten(d, d),
    "squeeze": lambda x, d: x.squeeze(d),
    "select": lambda x, d: x.select(d, 0),
    "narrow": lambda x, d: x.narrow(d, 0, 1),
    "slice": lambda x, d: torch.ops.aten.slice(x, d, 0, 1),
    "chunk": lambda x, d: x.chunk(1, d),
    "split": lambda x, d: x.split(1, d),
    "split_with_sizes": lambda x, d: x.split_with_sizes([2], d),
    "tensor_split": lambda x, d: x.tensor_split(1, d),
    "unbind": lambda x, d: x.unbind(d),
    "cat": lambda x, d: torch.cat([x, x], d),
    "stack": lambda x, d: torch.stack([x, x], d),
    "index_select": lambda x, d: x.index_select(d, FIRST),
    "gather": lambda x, d: x.gather(d, index_of(x)),
    "repeat_interleave": lambda x, d: x.repeat_interleave(2, d),
    "take_along_dim": lambda x, d: x.take_along_dim(index_of(x), d),
    "index_fill": lambda x, d: x.index_fill(d, FIRST, 0),
    "glu": lambda x, d: torch.nn.functional.glu(x, d),
    "renorm": lambda x, d: x.renorm(2, d, 1.0),
    **{name: lambda x, d, name=name: getattr(x, name)(d) for name in
       ("sum", "mean", "prod", "var", "std", "amax", "amin", "argmax", "argmin", "all", "any", "logsumexp", "nansum", "count_nonzero",
        "softmax", "log_softmax", "cumsum", "cumprod", "logcumsumexp", "argsort")},
    **{name: lambda x, d, name=name: getattr(x, name)(d)[0] for name in ("max", "min", "median", "sort", "cummax", "cummin")},
    "norm": lambda x, d: x.norm(2, d),
    "linalg_vector_norm": lambda x, d: torch.linalg.vector_norm(x, 2, d),
    "topk": lambda x, d: x.topk(1, d)[0],
}
# Of a tensor alone.
ALONE = {
    "permute": lambda x: x.permute(list(range(x.dim()))),
    "t": lambda x: x.t(),
    "tril": lambda x: x.tril(),
    "triu": lambda x: x.triu(),
    "ravel": lambda x: x.ravel(),
    "matmul": lambda x: x.matmul(x),
    "mm": lambda x: x.mm(x),
    "bmm": lambda x: x.bmm(x),
    "mv": lambda x: x.mv(torch.ones(2)),
    "view_as_complex": torch.view_as_complex,
    "column_stack": lambda x: torch.column_stack([x, x]),
    "expand_as": lambda x: x.expand_as(torch.ones([2] * x.dim())),
}


def rows(folder):
    for file in sorted(pathlib.Path(folder).glob("*.json")):
        table = json.loads(file.read_text(encoding="utf-8"))
        for row in table.get("operators", []) if "library" not in table else ():  # those of others than PyTorch
            for name in row["names"] if "rank" in row and "before" not in row else ():
                yield name, row


def fits(rule, before, after):
    least = {"plus_one": before + 1, "minus_one": before - 1, "reduce": max(before - 1, 0), "reduce_or_broadcast": max(before - 1, 0),
             "squeezed": max(before - 1, 0), "at_least_one": 1, "one": 1, "two": 2, "unknown": 0, "matmul": 0 if before == 1 else before}
    exact = rule not in ("squeezed", "at_least_one", "unknown")
    wanted = least.get(rule, before)
    return after == wanted if exact else after >= wanted


def problems(name, row, calls):
    least, of_result = row.get("least", 0), row["rank"] == "plus_one"
    worked = 0
    for rank in RANKS:
        for position, call in calls:
            try:
                result = call(torch.ones([2] * rank))
            except (RuntimeError, IndexError, TypeError, ValueError):
                continue
            worked += 1
            result = result[0] if isinstance(result, (tuple, list)) else result
            if rank < least:
                yield f"{name}: takes {rank} dimensions, and the table says at least {least}"
            if position is not None and row.get("dims", ["dim"]):
                needed = position + 1 if position >= 0 else -position
                scalar = least == 0 and not of_result and needed <= 1
                if needed > (result.dim() if of_result or row["rank"] == "joined" else rank) and not scalar:
                    yield f"{name}: dimension {position} of {rank}"
            if not fits(row["rank"], rank, result.dim()):
                yield f"{name}: {rank} dimensions become {result.dim()}, and the table says {row['rank']}"
    if not worked:
        yield f"{name}: no call worked"


def main():
    table, found, asked = dict(rows(sys.argv[1])), [], 0
    for name, call in ALONG.items():
        along = [(d, lambda x, d=d, call=call: call(x, d)) for d in POSITIONS]
        found += problems(name, table[name], along)
        asked += 1
    for name, call in ALONE.items():
        found += problems(name, table[name], [(None, call)])
        asked += 1
    untested = [name for name, row in table.items() if row.get("least") and name not in ALONG and name not in ALONE]
    print("\n".join(found) or f"{asked} operators as PyTorch {torch.__version__} has them; not asked: {' '.join(sorted(untested))}")
    sys.exit(1 if found else 0)


main()
