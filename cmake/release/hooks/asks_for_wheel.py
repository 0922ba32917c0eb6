"""The build of pyproject.toml, which pip runs for pre-commit: a wheel without files, which asks for dtype-guard's of the same version.

https://peps.python.org/pep-0517/: only what pip calls in a repository.
"""
import base64
import hashlib
import pathlib
import zipfile

NAME = "dtype_guard_pre_commit"
METADATA = """\
Metadata-Version: 2.1
Name: dtype-guard-pre-commit
Version: {version}
Requires-Python: >=3.8
Requires-Dist: dtype-guard=={version}
"""
WHEEL = "Wheel-Version: 1.0\nGenerator: dtype-guard\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    version = (pathlib.Path(__file__).resolve().parent / "VERSION").read_text().strip()
    folder = f"{NAME}-{version}.dist-info"
    texts = {f"{folder}/METADATA": METADATA.format(version=version), f"{folder}/WHEEL": WHEEL}
    record = ""
    for name, text in texts.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(text.encode())}\n"
    texts[f"{folder}/RECORD"] = f"{record}{folder}/RECORD,,\n"
    file = f"{NAME}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / file, "w") as archive:
        for name, text in texts.items():
            archive.writestr(name, text)
    return file


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("dtype-guard has no source distribution: pre-commit installs this repository, pip the wheels")
