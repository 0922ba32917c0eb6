#!/usr/bin/env python3
"""What the commands print of themselves: completions are run in the shells themselves, and have the words that --help has; the
manual page is rendered without a warning.

    command_line_test.py DTYPE_LINT DTYPE_SAN
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

COMMANDS = [pathlib.Path(word).resolve() for word in sys.argv[1:3]]


def output(*words, **settings):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, **settings)
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def options_in(text):
    """Long names in what --help prints, where a line begins with one."""
    return set(re.findall(r"(?:^|(?<=^  )|(?<=,))(--[a-z][a-z-]*)", text, re.MULTILINE)) | {"--help"}


def helps(command):
    """(words before, long options) of the command and of each of its commands."""
    text = output(command, "--help")
    yield [], options_in(text)
    commands = text.partition("Subcommands:")[2].partition("\n\n")[0]
    for word in re.findall(r"^  ([a-z]+) ", commands, re.MULTILINE):
        yield [word], options_in(output(command, word, "--help"))


class CommandLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def generated(self, command, kind):
        file = self.folder / f"{command.name}.{kind}"
        file.write_text(output(command, "--generate", kind))
        return file

    def shell(self, name):
        found = shutil.which(name)
        if not found:
            self.skipTest(f"no {name} on this machine")
        return found

    def bash(self, command, *words):
        """What bash offers for the last word."""
        file = self.generated(command, "bash")
        function = "_" + command.name.replace("-", "_")
        script = (f"source '{file}'; complete -p {command.name} >/dev/null || exit 9; COMP_WORDS=(\"$@\"); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
                  f"{function}; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        return output("bash", "-c", script, "bash", command.name, *words, cwd=self.folder).splitlines()

    def test_bash_offers_every_option(self):
        for command in COMMANDS:
            for before, options in helps(command):
                with self.subTest(command.name, before=before):
                    offered = {word for word in self.bash(command, *before, "--") if word.startswith("--")}
                    self.assertGreater(len(options), 0)
                    self.assertEqual(offered, options)

    def test_bash_offers_values(self):
        lint, san = COMMANDS
        self.assertEqual(self.bash(lint, "--color", ""), ["auto", "always", "never"])
        self.assertEqual(self.bash(lint, "--fail-on", "=", "w"), ["warning"])
        self.assertEqual(self.bash(lint, "--precision", "bf16,fp3"), ["bf16,fp32"])
        self.assertIn("attention-mixed-dtypes", self.bash(lint, "--explain", "attention-m"))
        self.assertEqual(self.bash(san, "det"), ["detach"])
        self.assertEqual(self.bash(san, "report", "--format", "sa"), ["sarif"])
        self.assertEqual(self.bash(san, "explain", "rotary-d"), ["rotary-dtype-mismatch"])

    def test_bash_offers_files(self):
        (self.folder / "my model.py").write_text("")
        (self.folder / "my folder").mkdir()
        lint, san = COMMANDS
        self.assertEqual(sorted(self.bash(lint, "my")), ["my folder", "my model.py"])
        self.assertEqual(self.bash(lint, "-p", "my"), ["my folder"])
        self.assertEqual(self.bash(san, "run", "--journal", "my"), ["my folder"])

    def test_fish_offers_every_option(self):
        fish = self.shell("fish")
        for command in COMMANDS:
            file = self.generated(command, "fish")
            for before, options in helps(command):
                with self.subTest(command.name, before=before):
                    line = " ".join([command.name, *before, "--"])
                    answer = output(fish, "--no-config", "-c", f"source '{file}'; complete -C '{line}'")
                    self.assertEqual({word.split("\t")[0] for word in answer.splitlines()} - {"--help"}, options - {"--help"})

    def test_fish_offers_values(self):
        fish = self.shell("fish")
        for command, line, expected in ((COMMANDS[0], "--color ", {"auto", "always", "never"}), (COMMANDS[1], "report --format sar", {"sarif"}),
                                        (COMMANDS[0], "--precision bf16,fp3", {"bf16,fp32"})):
            answer = output(fish, "--no-config", "-c", f"source '{self.generated(command, 'fish')}'; complete -C '{command.name} {line}'")
            self.assertLessEqual(expected, {word.split("\t")[0] for word in answer.splitlines()})

    def zsh(self, command, line):
        """What zsh offers for a line, asked on a terminal of its own as its tests do."""
        folder = self.folder / "functions"
        folder.mkdir(exist_ok=True)
        (folder / f"_{command.name}").write_text(output(command, "--generate", "zsh"))
        script = ("zmodload zsh/zpty; zpty offered zsh -f -i; "
                  f"zpty -w offered 'PS1= ; fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -d {self.folder}/dump; "
                  "zstyle \":completion:*\" list-separator \"\"; zstyle \":completion:*\" verbose no; LISTMAX=9999; "
                  "bindkey \"^I\" list-choices; stty cols 200; print BEGIN'; "
                  "zpty -r offered out '*BEGIN*BEGIN*'; "
                  f"zpty -w -n offered $'{line}\\t'; sleep 2; zpty -w -n offered $'\\x15print END\\n'; "
                  "all=; while zpty -r -t offered part; do all+=$part; done; print -r -- $all; zpty -d offered")
        return output(self.shell("zsh"), "-f", "-c", script)

    def test_zsh_offers_every_option(self):
        self.shell("zsh")
        for command in COMMANDS:
            for before, options in helps(command):
                with self.subTest(command.name, before=before):
                    offered = self.zsh(command, " ".join([command.name, *before, "--"]))
                    self.assertLessEqual(options, set(re.findall(r"--[a-z][a-z-]*", offered)), offered)

    def test_manual_page_is_well_formed(self):
        for command in COMMANDS:
            page = self.generated(command, "man")
            if shutil.which("mandoc"):
                told = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", str(page)], capture_output=True, text=True, check=False).stdout
                self.assertEqual([line for line in told.splitlines() if "missing date" not in line], [])
            formatter = self.shell("groff")
            done = subprocess.run([formatter, "-man", "-Tutf8", "-ww", "-P-c", str(page)], capture_output=True, text=True, check=False)
            self.assertEqual(done.stderr, "")
            text = re.sub(".\b", "", done.stdout)  # bold is overstruck
            for before, options in helps(command):
                for option in options:
                    self.assertIn(option, text)
            self.assertRegex(text, r"(?m)^EXAMPLES$")
            self.assertRegex(text, r"(?m)^EXIT STATUS$")

    def test_what_cannot_be_generated_is_named(self):
        for command in COMMANDS:
            done = subprocess.run([str(command), "--generate", "tcsh"], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("--generate: 'tcsh' is none of bash, fish, man, zsh", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
