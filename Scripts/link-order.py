#!/usr/bin/env python3
"""Writes Scripts/link-order.txt: what a short run executes, in the order in which it is first reached.

usage: link-order.py [perfwatch]     (as `make order`; x86-64; takes some minutes)

The linker puts these functions side by side, so that a short run touches a tenth of the pages of code.
Names that are no longer there are passed over, so that the list may be older than the code; measure
with `make bench ONLY=run`.
"""

import bisect
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PERFWATCH = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, '../.build/release/perfwatch')
# Only these come with a section for each function: Swift code and the Swift runtime.
PREFIXES = ('$s', '_ZN', 'swift_', '__swift')


def functions():
    """[(start, end, names)] of the program's code, by address."""
    lines = subprocess.run(
        ['nm', '--defined-only', '-S', PERFWATCH], capture_output=True, text=True, check=True)
    found = {}
    for line in lines.stdout.splitlines():
        parts = line.split()
        if len(parts) == 4 and parts[2] in 'tTwWiV':
            start = int(parts[0], 16)
            _, names = found.setdefault(start, (start + int(parts[1], 16), []))
            names.append(parts[3])
    return sorted((start, end, names) for start, (end, names) in found.items())


def main():
    known = functions()
    starts = [start for start, _, _ in known]
    with tempfile.TemporaryDirectory() as folder:
        tool = os.path.join(folder, 'firstcalls')
        subprocess.run(['cc', '-O2', '-o', tool, os.path.join(HERE, 'firstcalls.c')], check=True)
        run = subprocess.run(
            [tool, f'{known[0][0]:x}', f'{known[-1][1]:x}', PERFWATCH,
             'run', '--quiet', '--', '/bin/true'], stdout=subprocess.PIPE, text=True, check=True)
    order = {}
    for line in run.stdout.split():
        address = int(line, 16)
        index = bisect.bisect(starts, address) - 1
        if index >= 0 and address < known[index][1]:
            for name in known[index][2]:
                order[name] = None
    kept = [name for name in order if name.startswith(PREFIXES)]
    if len(kept) < 300:
        sys.exit(f'link-order: only {len(kept)} functions were seen; is {PERFWATCH} stripped?')
    with open(os.path.join(HERE, 'link-order.txt'), 'w') as file:
        file.writelines(f'.text.{name}\n' for name in kept)
    print(f'link-order: {len(kept)} functions')


main()
