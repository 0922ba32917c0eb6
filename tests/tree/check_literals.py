#!/usr/bin/env python3
"""The engine compares no name with a literal, with a part of one, nor with one of a list of literals: what a library calls its
operators, arguments and methods is a row of a table (rules/operators/library_names.h). Nor does a constant of its own give such
a name; those of analyzer/flow/ir are the IR's.

Words of the IR itself and of its text (WORDS), rules of the catalog and punctuation are none of these. What is looked up by a
table of rows, each with what it means, is not compared."""
import re
import sys

from tracked import ROOT, tracked

LITERAL = r'"([^"\\\n]*)"'
COMPARED = (
    re.compile(rf"[=!]=\s*{LITERAL}"),
    re.compile(rf"{LITERAL}(?:sv)?\s*[=!]="),
    # With a part of it, among the arguments of the call.
    re.compile(rf"\b(?:starts_with|ends_with|contains|r?find|compare|count|erase|remove_prefix|remove_suffix|begins|ends)"
               rf"\((?:[^()\";]|\([^()]*\))*{LITERAL}"),
)
# A list of names that a loop or a search goes through.
LISTED = re.compile(r"(?:std::(?:array|vector|set|unordered_set|initializer_list)\b(?:<[^;={}]*>)?(?: \w+)?"
                    r"|const std::string_view \w+(?:\[\d*\])?)\s*[=:]?\s*\{([^{}]*)\}")
# A name of its own, in one declaration with others.
DECLARED = r"k[A-Z]\w*(?:\[\])? =\s*\"[^\"\n]*\""
CONSTANT = re.compile(rf"(?:\bstring_view|\bchar\s*\*?) {DECLARED}(?:,\s*{DECLARED})*")
IS_NAME = re.compile(r"^[^\s]*[A-Za-z][^\s]*$")
OF_THE_IR = "analyzer/flow/ir/"
# Comparisons and tests of the IR, its instructions for containers and dtypes, what its text is made of, members of modules.json.
WORDS = set("""
eq ne lt le gt ge logical_and logical_or logical_not defined has_value is_floating_point length
dict_get dict_has dict_pop function method constructor destructor lambda
tensor tensor_list optional_tensor object options other dict_update subscript slice part new_dimension index store_element assign_object copy_of
deep_copy_of attribute_get attribute_has take_layers
may_hold spelt pointer_cast dtype_named descriptor_dtype default_dtype autocast_ autocast_dtype autocast_enabled
augmented:: installed:: number:: object_of:: @overridden is_tensor is_other_object values at key places undecided conversion results
module buffer parameter attribute member number on like call cast branch load
true false inf nan none unknown implicit bool float double dtype left right
""".split())


def compared(text, names_are_its_own=True):
    """Names in comparisons, comments left out."""
    code = re.sub(r"//.*", "", text)
    names = [name for form in COMPARED for name in form.findall(code)]
    for listed in LISTED.findall(code):
        names += re.findall(LITERAL, listed)
    for constants in CONSTANT.findall(code) if names_are_its_own else ():
        names += re.findall(LITERAL, constants)
    return [name for name in dict.fromkeys(names) if IS_NAME.search(name) and name not in WORDS]


def wrong(texts, rules):
    return [f"{file}: compares with \"{name}\": what a library is called is a row of a table" for file, text in sorted(texts.items())
            for name in compared(text, not file.startswith(OF_THE_IR)) if name not in rules]


def main():
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
             for path in tracked("analyzer/flow/*.cpp", "analyzer/flow/*.h")}
    rules = {path.stem for path in (ROOT / "rules/catalog").glob("*.md")}
    problems = wrong(texts, rules)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
