#!/usr/bin/env python3
"""Tests silence.py, plant.py and plant_foreign.py on the lint fixtures: what they count, and that they can fail.

    check_scripts.py ATTENTION_CALLS TESTS_FOLDER
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOOL, TESTS = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()

# The first left is no tensor that has methods; the operands of the third product are float32 on purpose.
WRAPPED = """struct Wrapped {
  at::Tensor tensor;
  operator const at::Tensor&() const { return tensor; }
};
at::Tensor wrapped(const Wrapped& q, const at::Tensor& k, const at::Tensor& v) {
  at::Tensor weights = at::matmul(q, k).softmax(-1).type_as(v);
  return at::matmul(weights, v);
}
at::Tensor exact(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  at::Tensor wide = q.to(torch::kFloat), narrow = k.to(torch::kFloat);
  at::Tensor weights = at::matmul(wide, narrow).softmax(-1).type_as(v);
  return at::matmul(weights, v);
}
"""


def run(script, scratch, sources, *options, checkouts=TESTS, folder="golden/lint/fixtures"):
    table = scratch / "table.json"
    flags = ["-std=c++17", "-include", str(TESTS / "unit/clang/mini_torch.h")]
    table.write_text(json.dumps({
        "flags": {"all": flags, "host": [], "cuda": []},
        "repositories": [{"name": "ours", "commit": "", "folder": folder, "sources": sources}]}))
    command = [sys.executable, HERE / script, "--tool", TOOL, "--checkouts", checkouts, "--torch", TESTS, "--table", table,
               "--out", scratch / "out", *options]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def expect(condition, what, output):
    if not condition:
        print(f"FAILED: {what}\n{output}")
        sys.exit(1)


def foreign(scratch):
    """Drawn by text alone, the same for the same seed; judged by the edited line; what is excused is not counted."""
    checkout, plants = scratch / "checkout", scratch / "plants.json"
    checkout.mkdir()
    (checkout / "a.cpp").write_text(WRAPPED[WRAPPED.index("at::Tensor exact"):].replace("q.to(torch::kFloat)", "q * 2.0")
                                    .replace("k.to(torch::kFloat)", "k * 2.0"))
    table = scratch / "foreign.json"
    table.write_text(json.dumps({
        "flags": {"all": ["-std=c++17", "-include", str(TESTS / "unit/clang/mini_torch.h")]},
        "repositories": [{"name": "ours", "commit": "", "folder": "checkout", "files": ["*.cpp"]}]}))
    command = [sys.executable, HERE / "plant_foreign.py", "--table", table, "--list", plants, "--checkouts", scratch]

    def script(*words):
        done = subprocess.run([str(each) for each in [*command[:2], *words, *command[2:]]], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    status, output = script("draw", "--count", "3", "--seed", "5")
    drawn = plants.read_text()
    expect(status == 0 and "3 plants in 1 repositories" in output, "three are drawn", output)
    script("draw", "--count", "3", "--seed", "5")
    expect(plants.read_text() == drawn, "the same seed draws the same", plants.read_text())
    rows = json.loads(drawn)["plants"]
    text = (checkout / "a.cpp").read_text()
    at = text.index("at::matmul(wide, narrow)") + len("at::matmul(")
    line = text.count("\n", 0, at) + 1
    row = {**rows[0], "line": line, "begin": at, "end": at + 4, "kind": "cast-back"}
    silent = {**row, "new": "wide * 1.0"}
    plants.write_text(json.dumps({"plants": [{**row, "new": "(wide).to(at::kFloat)"}, silent, {**silent, "excused": "no promotion"},
                                             {**row, "new": "nowhere"}]}))
    status, output = script("run", "--tool", TOOL, "--torch", TESTS)
    verdicts = re.findall(r"^ *\d+ (found|MISSED|not counted) ", output, re.M)
    expect(verdicts == ["found", "MISSED", "not counted", "not counted"] and status == 1, "one found of two counted", output)
    expect("[no promotion]" in output and "[does not compile]" in output and "1 of 2 found; 2 not counted" in output,
           "with their reasons", output)


def main():
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        status, output = run("silence.py", scratch, ["product_ok.cpp"])
        row = [line.split() for line in output.splitlines() if line.startswith("all ")]
        expect(status == 0 and row and row[0][1:5] == ["1", "1", "0", "0"], "one source, parsed", output)
        expect(int(row[0][6]) == 2 and row[0][7:10] == ["4", "100%", "0"], "two products, known, no finding", output)
        status, output = run("plant.py", scratch, ["product_ok.cpp"], "--count", "4", "--seed", "7")
        expect(status == 0 and "4 of 4 found" in output, "four planted, four found", output)
        again = run("plant.py", scratch, ["product_ok.cpp"], "--count", "4", "--seed", "7")[1]
        expect(again == output, "the same seed plants the same", output + again)
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        checkout = scratch / "checkout"
        checkout.mkdir()
        (checkout / "a.cpp").write_text(WRAPPED)
        run("silence.py", scratch, ["*.cpp"], checkouts=folder, folder="checkout")
        record = scratch / "record.txt"
        status, output = run("plant.py", scratch, ["*.cpp"], "--record", record, checkouts=folder, folder="checkout")
        refused = [line.split("matmul ")[1] for line in output.splitlines() if line.startswith("not counted")]
        expect(sorted(refused) == ["left: q [does not compile]"] * 2 + ["left: wide [float32 already]"] * 2 +
               ["right: narrow [float32 already]"] * 2, "what promotes nothing is not counted", output)
        expect(status == 0 and "these calls give only 10 promotions" in output and "10 of 10 found" in output,
               "all others are planted and found", output)
        expect(record.read_text().split("\n", 1)[1] == output, "the record is what was printed", record.read_text())
    with tempfile.TemporaryDirectory() as folder:
        foreign(pathlib.Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        status, output = run("silence.py", pathlib.Path(folder), ["product_bad.cpp"])
        expect("[attention-mixed-dtypes]" in output, "a finding is listed", output)
    with tempfile.TemporaryDirectory() as folder:
        checkout = pathlib.Path(folder) / "checkout"
        checkout.mkdir()
        for name, text in (("a.cpp", "int a;\n"), ("b.cpp", '#include "c.h"\nint b = missing;\n'), ("c.h", "int c = lost;\n")):
            (checkout / name).write_text(text)
        _, output = run("silence.py", pathlib.Path(folder), ["*.cpp"], "--together", "2", checkouts=folder, folder="checkout")
        row = [line.split() for line in output.splitlines() if line.startswith("all ")]
        expect(row and row[0][1:5] == ["2", "1", "0", "1"], "an error belongs to the file it stands in", output)
    with tempfile.TemporaryDirectory() as folder:
        status, output = run("plant.py", pathlib.Path(folder), ["product_ok.cpp"])
        expect(status == 2, "nothing to plant in without a run before", output)
    print("silence.py and plant.py behave")


main()
