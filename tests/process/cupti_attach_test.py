"""The CUPTI source of a job that runs already: joined, switched off and on from outside, left. A scripted CUDA plays."""
import subprocess

from support import BUILT, LONG, Case, environment, main, preloadable


class Running(Case):
    def start(self, *words, **changes):
        job = subprocess.Popen([BUILT["cuda_job"], *words], env=environment(**changes), cwd=self.scratch, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.end, job)
        self.assertEqual(job.stdout.readline(), "ready\n")
        return job

    def end(self, job, *files):
        for file in files or ("a", "b"):
            (self.scratch / file).touch()
        output, errors = job.communicate(timeout=LONG) if job.returncode is None else ("", "")
        self.assertEqual(job.returncode, 0, errors)
        return output

    def watched(self, *words):
        return self.start(*words, LD_PRELOAD=preloadable(BUILT["library"]), CUDA_INJECTION64_PATH=BUILT["library"],
                          DTYPE_SAN_OPTIONS=f"cupti=on:journal={self.scratch / 'journal'}:print_summary=0")

    def tool(self, *words, status=0):
        done = self.execute(BUILT["command"], *words)
        if "ptrace" in done.stderr and done.returncode != 0:
            self.skipTest("this machine lets no process be traced: " + done.stderr)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def cupti(self):
        _, report = self.report(self.scratch / "journal")
        [source] = [source for source in report["watched"]["sources"] if source["name"] == "cupti"]
        return source

    def test_detach_gives_the_subscription_back_and_the_job_runs_on(self):
        job = self.watched("wait", "a")
        self.tool("detach", job.pid)  # CUPTI lets go at the next launch
        self.assertEqual(self.end(job), "subscriptions 0\n")
        self.assertFalse(self.cupti()["on"])
        self.assertRegex(self.cupti()["why"], "^gave its place back: watching was switched off; before that [0-9]+ launch")

    def test_on_again_is_seen_at_the_next_watched_call(self):
        job = self.watched("wait", "a", "pause", "b", "call", "17", "attention", "1", "2", "3")
        self.tool("off", job.pid)
        (self.scratch / "a").touch()
        self.assertEqual(job.stdout.readline(), "ready\n")
        self.tool("on", job.pid)
        self.assertEqual(self.end(job), "subscriptions 1\n")
        self.assertIn("3 kernels, 2 of them attention", self.cupti()["why"])

    def test_a_job_that_has_initialised_cuda_is_joined(self):
        job = self.start("wait", "a", "call", "16")
        self.tool("attach", job.pid, "--options", f"cupti=on:journal={self.scratch / 'journal'}", "--library", BUILT["library"])
        self.assertEqual(self.end(job), "subscriptions 1\n")
        self.assertTrue(self.cupti()["on"])
        _, report = self.report(self.scratch / "journal")
        self.assertEqual([finding["rule"] for finding in report["findings"]], ["dlpack-dtype-mismatch"])

    def test_joining_leaves_cupti_alone_unless_it_is_asked_for(self):
        job = self.start("wait", "a")
        self.tool("attach", job.pid, "--options", f"journal={self.scratch / 'journal'}", "--library", BUILT["library"])
        self.assertEqual(self.end(job), "subscriptions 0\n")


if __name__ == "__main__":
    main()
