"""Writes elementwise_generated.json: the elementwise operators as PyTorch's own references declare them. The promotion
kind and the promoting arguments are read from the decorators in torch/_refs, argument names and in-place variants from
the schemas, and what an operator refuses is asked of the operator itself. Operators in the other tables of this folder
are reviewed by hand and left out. Made with PyTorch 2.13.

Usage: generate_elementwise.py [--check]
  --check compares with the file and exits with 1 when it is stale, with 77 (skipped) without PyTorch 2.13."""
import ast
import importlib
import json
import pathlib
import sys
import warnings

warnings.filterwarnings("ignore")
FOLDER = pathlib.Path(__file__).resolve().parent
OUTPUT = FOLDER / "elementwise_generated.json"
MADE_WITH = "2.13"
MODULES = {"torch._refs": "", "torch._refs.special": "special_", "torch._refs.nn.functional": ""}
RESULTS = {"DEFAULT": "promote", "NO_OPMATH": "promote", "INT_TO_FLOAT": "promote_int_to_float",
           "COMPLEX_TO_FLOAT": "promote_to_real", "ALWAYS_BOOL": "bool", "BOOL_TO_LONG": "promote_bool_to_long"}
CATEGORIES = {"integral": "uint8 int8 int16 int32 int64", "bool": "bool",
              "floating": "float16 bfloat16 float32 float64", "complex": "complex64 complex128"}
# Composites whose inner operator autocast acts on.
COMPOSED = {"square": "pow"}
# Answers of a kernel that a build lacks; they say nothing about dtypes.
NO_KERNEL = ("not implemented for", "not supported for", "addition operation")


def decorated(torch):
    """Name, kind and the names or positions of promoting arguments of each decorated reference."""
    for module_name, prefix in MODULES.items():
        module = importlib.import_module(module_name)
        tree = ast.parse(pathlib.Path(module.__file__).read_text(encoding="utf-8"))
        for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
            for decorator in function.decorator_list:
                text = ast.unparse(decorator)
                if "TYPE_PROMOTION_KIND." not in text:
                    continue
                kind = text.split("TYPE_PROMOTION_KIND.")[1].split(")")[0].split(",")[0]
                parameters = [argument.arg for argument in function.args.args]
                yield prefix + function.name, kind, promoting_positions(decorator, parameters)


def promoting_positions(decorator, parameters):
    for keyword in decorator.keywords:
        if keyword.arg == "type_promoting_args":
            names = ast.literal_eval(keyword.value)
            return [parameters.index(name) for name in ((names,) if isinstance(names, str) else names)]
    return None


def schemas(torch):
    """The functional overload of each aten operator that takes the most tensors, and all operator names."""
    chosen, names = {}, set()
    for schema in torch._C._jit_get_all_schemas():
        if not schema.name.startswith("aten::"):
            continue
        name = schema.name[len("aten::"):]
        names.add(name)
        if schema.overload_name.lower().startswith("out") or schema.overload_name.endswith("out") or not schema.arguments or schema.overload_name in ("t", "names"):
            continue
        tensors = sum("Tensor" in str(argument.type) for argument in schema.arguments)
        if tensors and (name not in chosen or tensors > chosen[name][0]):
            chosen[name] = (tensors, schema)
    return {name: schema for name, (_, schema) in chosen.items()}, names


def refused(torch, name, tensors):
    """Categories of dtypes for which the operator throws for a reason of dtype; None when it cannot be called."""
    function = getattr(torch.ops.aten, name)
    words, accepted = [], 0
    for category, dtypes in CATEGORIES.items():
        answers = set()
        for dtype in dtypes.split():
            operands = [torch.ones((2, 2)).to(getattr(torch, dtype)) for _ in range(tensors)]
            try:
                function(*operands)
                answers.add("accepted")
            except Exception as error:  # PyTorch throws many types
                text = str(error)
                gap = isinstance(error, NotImplementedError) or any(word in text for word in NO_KERNEL)
                answers.add("gap" if gap else "refused")
        accepted += "accepted" in answers
        if answers == {"refused"}:
            words.append(category)
    return words if accepted else None


def reviewed():
    names = set()
    for path in FOLDER.glob("*.json"):
        for group in json.loads(path.read_text(encoding="utf-8")).get("operators", ()):
            if path != OUTPUT and "before" not in group:  # an older release's row stands beside the entry
                names.update(group["names"])
        for spellings in json.loads(path.read_text(encoding="utf-8")).get("aliases", {}).values():
            names.update(spellings)
    return names


def groups(torch):
    by_name, names = schemas(torch)
    hand_written, made = reviewed(), {}
    for name, kind, positions in decorated(torch):
        schema = by_name.get(name)
        if schema is None or name in hand_written or name.startswith("_"):
            continue
        arguments = [argument.name for argument in schema.arguments]
        tensors = [a.name for a in schema.arguments if str(a.type) in ("Tensor", "Optional[Tensor]")]
        promoting = [arguments[i] for i in positions if i < len(arguments)] if positions else tensors
        refuses = refused(torch, name, len(tensors))
        if refuses is None:
            continue
        group = {"arguments": arguments, "promoting": promoting, "result": RESULTS[kind],
                 "rank": "broadcast" if len(promoting) > 1 else "like_first"}
        if refuses:
            group["refuses"] = refuses
        if name in COMPOSED:
            group["composed_of"] = COMPOSED[name]
        if name + "_" in names:
            group["in_place"] = True
        made.setdefault(json.dumps(group), set()).add(name)
    return [{"names": sorted(made[key]), **json.loads(key)} for key in sorted(made)]


def text_of(torch):
    rows = ",\n    ".join(json.dumps(group) for group in groups(torch))
    return f'{{\n  "schema": "dtype-guard/operators/1",\n  "operators": [\n    {rows}\n  ],\n  "aliases": {{}}\n}}\n'


def main():
    try:
        import torch
    except ImportError as error:
        print(f"skipped: {sys.executable} cannot import PyTorch: {error}")
        sys.exit(77)
    if not torch.__version__.startswith(MADE_WITH + "."):
        print(f"skipped: the table is made with PyTorch {MADE_WITH}, {sys.executable} has {torch.__version__}")
        sys.exit(77)
    written = text_of(torch)
    if "--check" not in sys.argv[1:]:
        OUTPUT.write_text(written, encoding="utf-8")
    elif OUTPUT.read_text(encoding="utf-8") != written:
        sys.exit(f"{OUTPUT.name} is stale: run {pathlib.Path(__file__).name} with PyTorch {MADE_WITH} and commit it")


if __name__ == "__main__":
    main()
