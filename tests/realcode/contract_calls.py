"""Counts, by CPython's ast and without dtype-lint, the calls of a Python package that are to a name with a contract: the
denominator of what dtype-lint reached.

A call counts where what it calls resolves, through the file's imports and re-exports of the package's own files, to a
spelling in rules/contracts; so does a call of what `ALL_ATTENTION_FUNCTIONS` gave. An operand counts where an argument
that is no literal is bound to it by position or keyword.

    contract_calls.py CONTRACTS PACKAGE_FOLDER      prints file:line, API and operands of each
"""
import ast
import json
import pathlib
import sys
import warnings

FOLLOWED = 12  # re-exports, one leading to the next


def contracts(folder):
    """{dotted Python spelling: (API, [(role, keyword, position)])}"""
    out = {}
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        table = json.loads(path.read_text(encoding="utf-8"))
        if table.get("schema") != "dtype-guard/contracts/1":
            continue
        for api in table["apis"]:
            operands = [(each["role"], each.get("keyword", each["role"]), each.get("argument"))
                        for each in api["operands"]]
            for spelling in api["spellings"]:
                if "::" not in spelling:
                    out.setdefault(spelling, (api["name"], operands))
    return out


class File:
    """What the names of one file are imported as, in whatever scope, and what its top level defines."""

    def __init__(self, path, module, is_package, tree):
        self.path, self.module, self.tree = path, module, tree
        self.package = module if is_package else module.rpartition(".")[0]
        self.imported, self.defined, self.stars = {}, set(), []
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for each in node.names:
                    first = each.name.partition(".")[0]
                    self.imported.setdefault(each.asname or first, each.name if each.asname else first)
            elif isinstance(node, ast.ImportFrom):
                base = self.absolute(node.module or "", node.level)
                for each in node.names:
                    if each.name == "*":
                        self.stars.append(base)
                    else:
                        self.imported.setdefault(each.asname or each.name, f"{base}.{each.name}" if base else each.name)
        for node in tree.body:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self.defined.add(node.name)

    def absolute(self, module, level):
        if level == 0:
            return module
        package = self.package.split(".")
        package = package[:len(package) - (level - 1)] if level > 1 else package
        return ".".join([each for each in package if each] + ([module] if module else []))


class Package:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.files, self.unparsed = {}, []
        for path in sorted(self.folder.rglob("*.py")):
            if not path.is_file():
                continue
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    tree = ast.parse(path.read_bytes())
            except (SyntaxError, ValueError, RecursionError, MemoryError, OSError) as error:
                self.unparsed.append((str(path.relative_to(self.folder)), str(error)))
                continue
            parts = list(path.relative_to(self.folder).with_suffix("").parts)
            is_package = parts[-1] == "__init__"
            module = ".".join(parts[:-1] if is_package else parts)
            self.files[module] = File(path, module, is_package, tree)

    def spelling(self, dotted, table, depth=0):
        """The contract's spelling that a dotted name is, through the package's own re-exports; None where it is none."""
        if dotted in table:
            return dotted
        module, _, name = dotted.rpartition(".")
        if depth > FOLLOWED or not module:
            return None
        file = self.files.get(module)
        if file is None:  # the name may be of what a name of the module is
            above = self.alias(module, depth)
            return self.spelling(f"{above}.{name}", table, depth + 1) if above else None
        if name in file.defined:
            return None
        if name in file.imported and file.imported[name] != dotted:
            return self.spelling(file.imported[name], table, depth + 1)
        for star in file.stars:
            if found := self.spelling(f"{star}.{name}", table, depth + 1):
                return found
        return None

    def alias(self, dotted, depth):
        module, _, name = dotted.rpartition(".")
        file = self.files.get(module)
        found = file.imported.get(name) if file and depth < FOLLOWED else None
        return found if found != dotted else None


def dotted_name(node):
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def interface_names(function):
    """Local names that a function gives what ALL_ATTENTION_FUNCTIONS holds."""
    out = set()
    for node in ast.walk(function):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            text = ast.dump(node.value)
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if "'ALL_ATTENTION_FUNCTIONS'" in text:
                out |= {each.id for each in targets if isinstance(each, ast.Name)}
    return out


def operands_given(call, operands):
    roles = []
    for role, keyword, position in operands:
        for index, each in enumerate(call.args):
            if isinstance(each, ast.Starred):
                break
            if index == position and not isinstance(each, ast.Constant):
                roles.append(role)
        roles += [role for each in call.keywords if each.arg in (keyword, role) and not isinstance(each.value, ast.Constant)]
    return sorted(set(roles))


def calls(package, table):
    """(file, line, column from 1, API, roles given) of each call."""
    for file in package.files.values():
        name_of = str(file.path.relative_to(package.folder))
        interfaces = {}
        for node in ast.walk(file.tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                found = interface_names(node)
                for below in ast.walk(node) if found else ():
                    if isinstance(below, ast.Call) and isinstance(below.func, ast.Name) and below.func.id in found:
                        interfaces[id(below)] = below
        for node in ast.walk(file.tree):
            if not isinstance(node, ast.Call):
                continue
            spelled = None
            if id(node) in interfaces:
                spelled = "transformers.modeling_utils.ALL_ATTENTION_FUNCTIONS"
            elif (dotted := dotted_name(node.func)) and (first := dotted.partition(".")[0]) in file.imported:
                spelled = package.spelling(file.imported[first] + dotted[len(first):], table)
            if not spelled or spelled.startswith("torch.nn.M"):  # a module's constructor
                continue
            api, operands = table[spelled]
            yield name_of, node.lineno, node.col_offset + 1, api, operands_given(node, operands)


def main():
    table = contracts(sys.argv[1])
    for name, line, column, api, roles in sorted(calls(Package(sys.argv[2]), table)):
        print(f"{name}:{line}:{column} {api} {','.join(roles)}")


if __name__ == "__main__":
    main()
