"""What a kernel launch costs with dtype-san's CUPTI source, in one run: no subscriber, an empty callback, ours, in
turn, the best of several rounds, processor time. A scripted libcupti launches: CUPTI's own cost is not in these figures.

Usage: bench_cupti.py --launches PROGRAM --library LIBRARY [--rounds N] [--steps N]
"""
import argparse
import shutil
import sys

from bench_san import JOURNALS, Table, best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--launches", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=20000)
    given = parser.parse_args()
    ours = {"LD_PRELOAD": given.library, "CUDA_INJECTION64_PATH": given.library,
            "DTYPE_SAN_OPTIONS": f"cupti=on:journal={JOURNALS}:print_summary=0"}
    table = Table()
    for kind, title in (("plain", "kernels of a transformer block, names of 40 to 260 characters"),
                        ("fed", "two casts and the attention that reads them")):
        def words(who, kind=kind):
            return [given.launches, who, str(given.steps), kind]
        found = best(given.rounds, {"none": (words("none"), {}), "empty": (words("empty"), {}), "ours": (words("ours"), ours)})
        none, empty, mine = (found[who][0] for who in ("none", "empty", "ours"))
        print(f"A launch of {title}:")
        table.row("no subscriber", none, None)
        table.row("+ an empty callback", empty - none, None)
        table.row("+ dtype-san, over the empty callback", mine - empty, 300)
    shutil.rmtree(JOURNALS)
    sys.exit(1 if table.failed else 0)


if __name__ == "__main__":
    main()
