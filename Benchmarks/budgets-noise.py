#!/usr/bin/env python3
"""Do budgets fail for the right reason on a busy machine?

usage: budgets-noise.py [--runs N] [--spinners N] [--perfwatch FILE]

Runs budget_loop N times without and N times with a stall of 400 ms of CPU time under
`--stall-budget 250ms`, while spinners take the CPUs, and counts exit codes: 0 held, 98 could not be
judged, 99 failed. Wanted: no 99 without the stall, nothing but 99 with it.
"""
import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--spinners", type=int, default=4)
    parser.add_argument("--perfwatch", default=str(HERE.parent / ".build/release/perfwatch"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        loop = f"{folder}/budget_loop"
        subprocess.run(
            ["gcc", "-O2", "-g", "-o", loop, str(HERE / "src/budget_loop.c")], check=True)
        spinners = [
            subprocess.Popen([sys.executable, "-c", "while True: pass"])
            for _ in range(options.spinners)]
        try:
            failed = False
            for stall, wanted in ((0, {0, 98}), (400, {99})):
                codes = collections.Counter()
                for _ in range(options.runs):
                    done = subprocess.run(
                        [options.perfwatch, "run", "-q", "--stall-budget", "250ms", "--", loop,
                         "60", str(stall)], stderr=subprocess.DEVNULL)
                    codes[done.returncode] += 1
                text = ", ".join(f"{code}: {count}" for code, count in sorted(codes.items()))
                print(f"{options.spinners} spinners, stall {stall} ms: {text}", flush=True)
                failed |= not set(codes) <= wanted
            return 1 if failed else 0
        finally:
            for spinner in spinners:
                spinner.kill()
                spinner.wait()


if __name__ == "__main__":
    sys.exit(main())
