"""A run from the cache, and one over linked summaries, says the same as a fresh one, byte for byte: every bad fixture of this
folder, and an example of what a contract file or a range of versions adds."""
import concurrent.futures
import json
import os
import time

import project

# What the fixtures must show at least once, so that nothing that a rule needs is lost on the way.
RULES = {"attention-implicit-promotion", "attention-mask-dtype", "attention-mixed-dtypes", "autocast-fp32-operator",
         "discarded-cast", "dlpack-dtype-mismatch", "dtype-guard-misses-promotion", "rotary-dtype-mismatch",
         "silent-attention-fallback", "unregistered-buffer", "version-dependent-dtype"}
OPERANDS = [{"role": "q", "argument": 0, "accepts": ["floating"]}, {"role": "k", "argument": 1, "same_as": "q"}]
CONTRACTS = {"schema": "dtype-guard/contracts/1", "library": "mine", "types": {"my::number": "float16"},
             "helpers": {"apply_scale": "mul"}, "apis": [{"name": "own", "kind": "attention", "spellings": ["own"],
                                                          "operands": OPERANDS, "fast": {"cuda": ["half"]}}]}
OWN = """namespace my { struct number { unsigned short bits; }; }
at::Tensor apply_scale(const at::Tensor& x, const at::Tensor& by);
at::Tensor own(const at::Tensor& q, const at::Tensor& k);
int own(const my::number* q, const float* k);
int mixed(const my::number* q, const float* k) { return own(q, k); }
at::Tensor run(const at::Tensor& x, const at::Tensor& scale) {
  at::Tensor q = apply_scale(x, scale);
  return own(q, x.to(q.scalar_type()));
}
void later(const at::Tensor& x) { run(x.to(at::kHalf), torch::zeros({2}, at::kFloat)); }
"""
VERSIONS = """void f(const at::Tensor& x) {
  at::Tensor q = at::rms_norm(x, {4});
  attend(q, x, x);
}
"""
MASK = """namespace at { Tensor scaled_dot_product_attention(const Tensor&, const Tensor&, const Tensor&,
    const std::optional<Tensor>& = {}); }
at::Tensor run(const at::Tensor& q, const at::Tensor& mask) {
  return at::scaled_dot_product_attention(q, q, q, mask.to(at::kFloat));
}
"""


class CachedRules(project.Case):
    def same_from_everywhere(self, name, *arguments):
        """The rules of the findings, which are those of a fresh run, of what was kept of it, of a kept summary and of a linked one."""
        flags = ("--", *project.FLAGS.replace("'", "").split(), f"-std={project.standard(self.folder / name)}")
        run = [name, "--format=json", *arguments]
        summary, home = self.scratch / f"{name}.sum", self.scratch / f"cache-{name}"
        fresh = self.lint("--no-cache", *run, *flags)
        self.assertEqual(fresh.returncode, 1, name + fresh.stdout + fresh.stderr)
        first = self.lint(*run, *flags, home=home)
        entries = {p: p.read_bytes() for p in home.rglob("*") if p.is_file() and p.name != "pruned"}
        (answer,) = [p for p in entries if p.suffix == ".answer"]
        self.assertEqual(len(entries), 3, name)  # the summary, what roots gave, the answer
        answered = self.lint(*run, *flags, home=home)
        answer.unlink()
        cached = self.lint(*run, *flags, home=home)
        self.assertEqual({p: p.read_bytes() for p in entries}, entries, name)
        emitted = self.lint(name, *arguments, "--emit-summary", summary, *flags, home=home)
        self.assertEqual((emitted.returncode, emitted.stderr), (0, ""), name)
        linked = self.lint("--link", summary, "--format=json", *arguments)
        for other in (first, answered, cached, linked):
            self.assertEqual((other.returncode, other.stdout), (1, fresh.stdout), name + other.stderr)
        findings = json.loads(fresh.stdout)["findings"]
        return {rule for each in findings for rule in (each["rule"], *each.get("also_rules", []))}

    def test_every_rule(self):
        cases = [(path.name, path.read_text(), ()) for path in sorted(project.FIXTURES.glob("*_bad.cpp"))]
        contracts = self.scratch / "mine.json"
        contracts.write_text(json.dumps(CONTRACTS))
        cases += [("own.cpp", OWN, ("--contracts", contracts)), ("versions.cpp", VERSIONS, ("--torch=2.10..2.12.1",)),
                  ("mask.cpp", MASK, ("--torch=2.1",))]
        for name, text, _ in cases:
            (self.folder / name).write_text(text)
        old = time.time() - 3600  # when the time of a file is trusted
        for path in [self.folder, *self.folder.rglob("*")]:
            os.utime(path, (old, old))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            found = pool.map(lambda case: self.same_from_everywhere(case[0], *case[2]), cases)
            self.assertEqual(RULES - set().union(*found), set())


project.main()
