"""Reports of every kind in the formats that other programs read: SARIF against sarif.schema.json (sarif_published.py has the
published schema), GitLab's and reviewdog's JSON against what they ask for, GitHub's workflow commands by their grammar; and
what each must say.
Usage: formats_check.py WRITE_SAMPLE_REPORT GOLDEN_FOLDER. Exits with 77 (skipped) without the jsonschema module."""
import gzip
import json
import pathlib
import re
import subprocess
import sys

try:
    import jsonschema
except ImportError as error:
    print(f"skipped: {sys.executable} has no jsonschema module: {error}")
    sys.exit(77)

HERE = pathlib.Path(__file__).parent
KINDS = ("static", "runtime", "baseline", "bad-utf8", "500")
TEXT = {"type": "string", "minLength": 1}
GITLAB = {"type": "array", "items": {
    "type": "object", "required": ["description", "check_name", "fingerprint", "severity", "location"], "properties": {
        "description": TEXT, "check_name": TEXT, "fingerprint": TEXT,
        "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
        "location": {"type": "object", "required": ["path", "lines"], "properties": {
            "path": TEXT, "lines": {"type": "object", "required": ["begin"],
                                    "properties": {"begin": {"type": "integer", "minimum": 1}}}}}}}}
POSITION = {"type": "object", "required": ["line"], "additionalProperties": False, "properties": {
    "line": {"type": "integer", "minimum": 1}, "column": {"type": "integer", "minimum": 1}}}
RANGE = {"type": "object", "required": ["start"], "additionalProperties": False,
         "properties": {"start": POSITION, "end": POSITION}}
LOCATION = {"type": "object", "required": ["path"], "additionalProperties": False,
            "properties": {"path": TEXT, "range": RANGE}}
RDJSON = {"type": "object", "required": ["source", "diagnostics"], "properties": {"diagnostics": {
    "type": "array", "items": {"type": "object", "required": ["message", "location"], "additionalProperties": False,
        "properties": {
            "message": TEXT, "location": LOCATION, "severity": {"enum": ["ERROR", "WARNING", "INFO"]},
            "code": {"type": "object", "required": ["value"]},
            "suggestions": {"type": "array", "items": {"type": "object", "required": ["range", "text"],
                                                       "properties": {"range": RANGE}}},
            "relatedLocations": {"type": "array", "items": {"type": "object", "required": ["location"],
                                                            "properties": {"location": LOCATION}}}}}}}}
COMMAND = re.compile(r"::(error|warning|notice) (?:[a-zA-Z]+=[^,:\r\n]*,)*title=[^,:\r\n]+::[^\r\n]+")


def sarif_schema():
    own = json.loads((HERE / "sarif.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(own)
    return own


def check_uris(run):
    """A relative path says what it is relative to; an absolute one does not. Where the root is known, it is told."""
    def locations(node):
        if isinstance(node, dict):
            if "uri" in node:
                yield node
            node = node.values()
        for each in node if not isinstance(node, (str, int, float, bool, type(None))) else ():
            yield from locations(each)
    uris = list(locations(run["results"]))
    assert uris, run
    for each in uris:
        absolute = each["uri"].startswith(("file:", "https:", "/"))
        assert (each.get("uriBaseId") is None) == absolute, each
        assert absolute or each["uriBaseId"] in run.get("originalUriBaseIds", {"%SRCROOT%": None}), each


def check_sarif(text, kind, schema):
    log = json.loads(text)
    jsonschema.Draft7Validator(schema).validate(log)
    run = log["runs"][0]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"], result
    found = {result["ruleId"]: result for result in run["results"]}
    check_uris(run)
    if kind == "static":
        promotion = run["results"][0]
        steps = promotion["codeFlows"][0]["threadFlows"][0]["locations"]
        assert [step["state"]["dtype"]["text"] for step in steps] == ["float32", "float32"], steps
        assert "primaryLocationLineHash" in promotion["partialFingerprints"], promotion
        assert promotion["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"]["text"] == \
            "scale.to(q.scalar_type())"
        assert run["results"][2]["suppressions"][0]["justification"] == "measured, no cost"
        assert not run["invocations"][0]["executionSuccessful"]  # broken.cpp has a parse error
    if kind == "runtime":
        assert len(found["attention-mixed-dtypes"]["stacks"]) == 2
        assert found["attention-mixed-dtypes"]["occurrenceCount"] == 12
    if kind == "baseline":
        assert [r.get("baselineState") for r in run["results"]] == ["unchanged", "new", "absent"]
        assert run["results"][2]["level"] == "none", "GitHub would show a fixed finding as an alert"


def check_limits(write):
    text = write("25003", "sarif")
    run = json.loads(text)["runs"][0]
    assert len(run["results"]) == 25000, len(run["results"])
    said = [n["message"]["text"] for n in run["invocations"][0]["toolExecutionNotifications"]]
    assert any(line.startswith("3 findings of least harm left out") for line in said), said
    warnings = sum(result["level"] == "warning" for result in run["results"])
    assert warnings == 2497, f"{warnings} warnings: the errors have to stay"
    size = len(gzip.compress(text, 6))
    assert size < 10_000_000, f"{size} bytes after gzip; GitHub takes 10 MB"


def check_github(text, kind):
    *lines, summary = text.decode("utf-8").splitlines()
    gone = [line for line in lines if line.startswith("fixed: ")]  # of the baseline: no annotation
    commands = lines[:len(lines) - len(gone)]
    assert lines[len(commands):] == gone, lines
    assert (f", {len(gone)} fixed" in summary) == bool(gone), summary
    for line in commands:
        assert COMMAND.fullmatch(line), line
    levels = [line.split()[0] for line in commands]
    assert levels == sorted(levels), "errors stand before warnings"  # alphabetical, as it happens
    assert not summary.startswith("::")
    if kind == "500":
        assert levels.count("::error") == 10 and levels.count("::warning") == 10, levels
        assert "481 more than GitHub shows" in summary, summary
    if kind == "static":
        assert commands[0] == "::error file=broken.cpp,title=not analysed::parse-error: 3:1: expected ';'", commands[0]
        assert commands[1].startswith("::error file=model.cpp,line=4,col=7,endColumn=16,title=attention-implicit-promotion::")
        assert len(commands) == 3, "a suppressed finding is not annotated"


def check_gitlab(text, kind):
    entries = json.loads(text)
    jsonschema.validate(entries, GITLAB)
    prints = [entry["fingerprint"] for entry in entries]
    assert len(set(prints)) == len(prints), "fingerprints are unique"
    if kind == "static":
        assert [entry["severity"] for entry in entries] == ["critical", "minor"], entries
    if kind == "baseline":
        assert len(entries) == 1


def check_rdjson(text, kind):
    report = json.loads(text)
    jsonschema.validate(report, RDJSON)
    if kind == "static":
        first = report["diagnostics"][0]
        assert first["suggestions"] == [{"range": {"start": {"line": 4, "column": 11}, "end": {"line": 4, "column": 16}},
                                         "text": "scale.to(q.scalar_type())"}], first
        assert len(first["relatedLocations"]) == 3


def main():
    program, golden = sys.argv[1], sys.argv[2]

    def write(kind, form):
        return subprocess.run([program, kind, form, golden], capture_output=True, check=True).stdout

    schema = sarif_schema()
    for kind in KINDS:
        check_sarif(write(kind, "sarif"), kind, schema)
        check_github(write(kind, "github"), kind)
        check_gitlab(write(kind, "gitlab"), kind)
        check_rdjson(write(kind, "rdjson"), kind)
        write(kind, "json").decode("utf-8")
    check_limits(write)
    print(f"{len(KINDS)} reports fit SARIF, GitHub, GitLab and reviewdog")


main()
