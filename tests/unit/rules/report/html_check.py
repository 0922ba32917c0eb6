"""Opens HTML reports in headless Chromium from file://, lets html_visit.js use them, and judges what it saw; leaves
screenshots, light and dark, for a person. Skipped (77) where there is no Chromium.
Usage: html_check.py WRITE_SAMPLE_REPORT GOLDEN_FOLDER OUTPUT_FOLDER"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
CATCH = ("<script>window.visitErrors = [];"
         "addEventListener('error', (e) => visitErrors.push(String(e.message)));"
         "addEventListener('unhandledrejection', (e) => visitErrors.push(String(e.reason)));"
         "for (const kind of ['error', 'warn']) console[kind] = (...all) => visitErrors.push(all.join(' '));</script>")
VISIT = re.compile(r'<script type="application/json" id="visit">(.*?)</script>', re.DOTALL)


def browser():
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        path = shutil.which(name)
        if path:
            return path
    print("skipped: no Chromium is installed (chromium, chromium-browser, google-chrome)")
    sys.exit(77)


def run(*arguments, width=1400):
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            [browser(), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--enable-logging=stderr",
             f"--user-data-dir={profile}", f"--window-size={width},900", *arguments],
            capture_output=True, text=True)
    errors = [line for line in done.stderr.splitlines() if ":CONSOLE" in line]
    assert not errors, errors
    return done.stdout


def visit(page, folder, visitor="html_visit.js", width=1400):
    """What the visitor saw of the page, which is given as text."""
    name = folder / "visited.html"
    script = (HERE / visitor).read_text(encoding="utf-8")
    page = page.replace("<head>", "<head>" + CATCH, 1).replace("</body>", f"<script>{script}</script></body>")
    name.write_text(page, encoding="utf-8")
    found = VISIT.search(run("--dump-dom", name.as_uri(), width=width))
    assert found, "the visitor did not reach its end: a script of the page failed"
    return json.loads(found.group(1))


def check_all(saw):
    assert not saw["errors"], saw["errors"]
    assert not saw["outside"], f"loads {saw['outside']}"
    assert saw["unsafe"] == 0, "text of the report became markup"
    for name, filtered in saw["filtered"].items():
        assert filtered["shown"] == filtered["said"], (name, filtered)
    assert saw["nothing"] == {"shown": 0, "text": "No finding fits these filters."}, saw["nothing"]
    assert saw["theme"], "dark and light look the same"


def check_wraps(page, folder):
    """Long lines of source, and long words, take more lines and not more room: in a wide window and in a narrow one."""
    for width in (1400, 500):
        saw = visit(page, folder, "html_narrow.js", width)
        assert not saw["errors"], saw["errors"]
        assert saw["width"] <= width and saw["lines"] > 2, saw
        assert min(saw["heights"]) >= 3 * 22, saw["heights"]
        assert not saw["page"] and not saw["scrolled"] and not saw["outside"], (width, saw["scrolled"], saw["outside"])


def main():
    program, golden, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    browser()

    def page(kind):
        text = subprocess.run([program, kind, "html", golden], capture_output=True, check=True).stdout.decode("utf-8")
        (folder / f"{kind}.html").write_text(text, encoding="utf-8")
        return text

    saw = visit(page("static"), folder)
    check_all(saw)
    assert saw["total"] == 3 and saw["rows"] == 3, saw
    assert saw["first"] == "row error picked", saw["first"]
    assert saw["heading"].startswith("q becomes float32 here"), saw["heading"]
    assert saw["stops"] == 3 and saw["marked"] == 2 and saw["drawn"] == 2, saw  # a bend and its arrow
    # From the half dtype that comes in, through the step where it turns wide, into q; and a stub for k.
    coming, turned, into_q, into_k = saw["ribbons"]
    assert coming != turned == into_q and into_k == coming, saw["ribbons"]
    assert saw["operands"] == [["q", True], ["k", True]], saw["operands"]  # k is none of what it takes, in this sample
    assert saw["followed"] == 7, "the second stop leads to the call's line"
    check_wraps(page("static"), folder)

    saw = visit(page("runtime"), folder)
    check_all(saw)
    assert saw["operands"] and saw["stops"] == 1, "a finding without a path shows its call and the operands"
    check_all(visit(page("bad-utf8"), folder))
    check_all(visit(page("baseline"), folder))

    saw = visit(page("5000"), folder)
    check_all(saw)
    assert saw["total"] == 5000 and set(saw["filtered"]) == {"rule", "file", "api", "rank"}, saw["filtered"]
    assert saw["rows"] < 60 and saw["rows_at_end"] < 60, "the list builds rows that are not shown"
    assert saw["picked"] == 1
    # Without lag, held against what the same browser needs to print the findings: to filter looks at each a few times,
    # to scroll at those in sight.
    assert saw["filter_ms"] < 5 * saw["print_ms"] and saw["scroll_ms"] < saw["print_ms"], saw
    for kind in ("static", "5000"):
        run(f"--screenshot={folder / (kind + '.png')}", (folder / f"{kind}.html").as_uri())
    (folder / "visited.html").write_text(
        (folder / "static.html").read_text(encoding="utf-8").replace("start();\n", "start(); byId('theme').click();\n"),
        encoding="utf-8")
    run(f"--screenshot={folder / 'dark.png'}", (folder / "visited.html").as_uri())
    print(f"5,000 findings: filter {saw['filter_ms']:.0f} ms, scroll {saw['scroll_ms']:.0f} ms, print {saw['print_ms']:.0f} ms; "
          f"screenshots in {folder}")


main()
