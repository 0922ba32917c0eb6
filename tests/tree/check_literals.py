#!/usr/bin/env python3
"""The engine compares no name with a literal, nor with one of a list of literals: what a library calls its operators,
arguments and methods is a row of a table (rules/operators/library_names.h).

Words of the IR itself and of its text (WORDS), rules of the catalog and punctuation are none of these."""
import re
import sys

from tracked import ROOT, tracked

COMPARED = re.compile(r'[=!]=\s*"([^"\\\n]*)"')
# A list of names that a loop or a search goes through.
LISTED = re.compile(r'(?:std::array<std::string_view, \d+> \w+ =|const std::string_view \w+ :)\s*\{([^}]*)\}')
# Comparisons and tests of the IR, its instructions for containers and dtypes, what its text is made of.
WORDS = set("""
eq ne lt le gt ge logical_and logical_or logical_not defined has_value is_floating_point length
dict_get dict_has dict_pop function method constructor destructor lambda
tensor tensor_list optional_tensor object options other dict_update subscript slice part new_dimension index store_element assign_object copy_of
deep_copy_of attribute_get take_layers
may_hold spelt pointer_cast dtype_named descriptor_dtype default_dtype autocast_dtype autocast_enabled
module buffer parameter attribute number on like call cast branch load
true false inf nan none unknown implicit bool float double dtype left right
""".split())


def compared(text):
    """Names in comparisons, comments left out."""
    code = re.sub(r"//.*", "", text)
    names = COMPARED.findall(code)
    for listed in LISTED.findall(code):
        names += re.findall(r'"([^"\\\n]*)"', listed)
    return [name for name in names if re.search(r"\w", name) and name not in WORDS]


def wrong(texts, rules):
    return [f"{file}: compares with \"{name}\": what a library is called is a row of a table"
            for file, text in sorted(texts.items()) for name in compared(text) if name not in rules]


def main():
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
             for path in tracked("analyzer/flow/*.cpp", "analyzer/flow/*.h")}
    rules = {path.stem for path in (ROOT / "rules/catalog").glob("*.md")}
    problems = wrong(texts, rules)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
