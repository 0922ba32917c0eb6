"""Validates reports as written against rules/report/report.schema.json, and the shipped contract files against theirs.
Usage: schema_check.py WRITE_SAMPLE_REPORT RULES_FOLDER. Exits with 77 (skipped) without the jsonschema module."""
import json
import pathlib
import subprocess
import sys

try:
    import jsonschema
except ImportError as error:
    print(f"skipped: {sys.executable} has no jsonschema module: {error}")
    sys.exit(77)


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def described(schema, path="#"):
    """Members of the schema that lack a description."""
    for name, member in schema.get("properties", {}).items():
        if "$ref" not in member and "description" not in member:
            yield f"{path}/{name}"
        yield from described(member, f"{path}/{name}")
    for name, member in schema.get("definitions", {}).items():
        yield from described(member, f"{path}/definitions/{name}")


def main():
    program, rules = sys.argv[1], pathlib.Path(sys.argv[2])
    report_schema = load(rules / "report" / "report.schema.json")
    contracts_schema = load(rules / "contracts" / "contracts.schema.json")
    for schema in (report_schema, contracts_schema, load(rules / "report" / "baseline.schema.json")):
        jsonschema.Draft7Validator.check_schema(schema)
        assert not list(described(schema)), f"no description: {list(described(schema))}"
    report = None
    for kind in ("static", "baseline", "bad-utf8", "500", "runtime"):
        report = json.loads(subprocess.run([program, kind, "json"], capture_output=True, check=True).stdout)
        jsonschema.validate(report, report_schema)
    # A schema that accepts anything would pass all of the above.
    del report["findings"][0]["rule"]
    if jsonschema.Draft7Validator(report_schema).is_valid(report):
        sys.exit("the schema accepts a finding without a rule")
    contracts = [path for path in (rules / "contracts").glob("*.json") if path.name != "contracts.schema.json"]
    for path in contracts:
        jsonschema.validate(load(path), contracts_schema)
    print(f"5 reports and {len(contracts)} contract files fit their schemas")


main()
