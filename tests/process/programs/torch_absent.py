"""Every operator of a library's that a contract names, registered with a schema made of that contract, and called without any
operand that may be missing: once as the contract wants it, and with `wrong` once more with one operand in another dtype.

    torch_absent.py right|wrong CONTRACTS.json...     one line for each operator: API, and the operand that is wrong
"""
import json
import pathlib
import sys

import torch

DTYPES = {"half": torch.bfloat16, "floating": torch.bfloat16}


def operators(files):
    for file in files:
        for api in json.loads(pathlib.Path(file).read_text(encoding="utf-8"))["apis"]:
            for spelling in api.get("spellings", ()):
                words = spelling.split(".")
                if words[:2] == ["torch", "ops"] and len(words) == 4 and words[2] != "aten":
                    if any(operand.get("optional") for operand in api["operands"]):
                        yield api, words[2], words[3]


def schema_of(name, operand_list):
    """Operands at their places, `None` for what lies between them."""
    places = {operand["argument"]: operand for operand in operand_list}
    arguments = []
    for place in range(max(places) + 1):
        operand = places.get(place)
        kind = "int?" if operand is None else "Tensor?" if operand.get("optional") else "Tensor"
        arguments.append(f"{kind} a{place}")
    return f"{name}({', '.join(arguments)}) -> Tensor"


def dtype_of(operand, by_role):
    while not operand.get("accepts"):
        operand = by_role[operand["same_as"]]
    return DTYPES.get(operand["accepts"][0]) or getattr(torch, operand["accepts"][0])


def values_of(api, wrong):
    by_role = {operand["role"]: operand for operand in api["operands"]}
    values = [None] * (max(operand["argument"] for operand in api["operands"]) + 1)
    for operand in api["operands"]:
        if not operand.get("optional"):
            dtype = torch.float64 if operand["role"] == wrong else dtype_of(operand, by_role)
            values[operand["argument"]] = torch.zeros(2, 3, 4).to(dtype)
    return values


def wrong_of(api):
    """The role of the last operand that must be there, where there is something that it has to be like."""
    given = {operand["role"] for operand in api["operands"] if not operand.get("optional")}
    roles = [operand["role"] for operand in api["operands"] if operand["role"] in given and (operand.get("same_as") or operand.get("accepts"))
             and operand.get("same_as", operand["role"]) in given]
    return roles[-1] if roles else None


def main():
    way, *files = sys.argv[1:]
    libraries = {}
    for api, namespace, name in operators(files):
        library = libraries.setdefault(namespace, torch.library.Library(namespace, "FRAGMENT"))
        library.define(schema_of(name, api["operands"]))
        library.impl(name, lambda *values: torch.zeros(1), "CPU")
        operator = getattr(getattr(torch.ops, namespace), name)
        operator(*values_of(api, None))
        wrong = wrong_of(api) if way == "wrong" else None
        if wrong is not None:
            operator(*values_of(api, wrong))
        print(api["name"], wrong)


if __name__ == "__main__":
    main()
