"""What the preload library asks of the systems that it is loaded into: read from the file itself."""
import pathlib
import re
import subprocess

from support import BUILT, Case, main


def tool(*words):
    return subprocess.run([*words, BUILT["library"]], capture_output=True, text=True, check=True).stdout


class Library(Case):
    def test_needs_only_libc(self):
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", tool("readelf", "-dW"))
        self.assertEqual(needed, ["libc.so.6"])

    def test_no_symbol_version_is_newer_than_glibc_2_28(self):
        versions = set(re.findall(r"GLIBC_([0-9.]+)", tool("readelf", "-VW")))
        self.assertTrue(versions)
        newer = [version for version in versions if tuple(map(int, version.split("."))) > (2, 28)]
        self.assertEqual(newer, [])
        self.assertNotIn("GLIBC_PRIVATE", tool("readelf", "-VW"))

    def test_exports_exactly_the_table_without_versions(self):
        rows = re.findall(r"^DTYPE_SAN_API\((\w+),", pathlib.Path(BUILT["apis"]).read_text(encoding="utf-8"), re.M)
        rows += re.findall(r"^DTYPE_SAN_EXPORT\((\w+)\)", pathlib.Path(BUILT["exports"]).read_text(encoding="utf-8"), re.M)
        exported = re.findall(r" [TWDBVi] (\S+)$", tool("nm", "-D", "--defined-only", "--with-symbol-versions"), re.M)
        self.assertEqual(sorted(exported), sorted(rows))

    def test_hides_its_unwinder(self):
        self.assertNotIn("_Unwind", tool("nm", "-D"))

    def test_has_no_thread_local_storage_and_no_text_relocations(self):
        self.assertNotRegex(tool("readelf", "-lW"), r"(?m)^\s+TLS\s")
        self.assertNotIn("TEXTREL", tool("readelf", "-dW"))

    def test_has_one_constructor(self):
        """A static variable with one of its own could be set back after a library has announced itself."""
        size = re.search(r"\.init_array\s+INIT_ARRAY\s+\S+\s+\S+\s+(\S+)", tool("readelf", "-SW")).group(1)
        self.assertLessEqual(int(size, 16), 16)  # ours and the compiler's frame_dummy

    def test_is_never_unloaded(self):
        self.assertIn("NODELETE", tool("readelf", "-dW"))


if __name__ == "__main__":
    main()
