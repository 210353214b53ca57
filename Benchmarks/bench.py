#!/usr/bin/env python3
"""The figures of Docs/performance.md, in one interleaved run; see there for how each is taken.

usage: bench.py [--rounds 3] [--only poll,memory,launch,run,loops,agree,symbols,capture,dumps,unwind,attribution] [--threads 1,10,100,1000]

In every round each observer takes its turn on the same live target, in changing order, so that a
machine that gets slower for a while does so for all. The table has the median over the rounds of
the rounds' ratios, with the lowest and the highest. A peer that is not there is skipped.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time

import agreement
import attribution
import capture
import dumps
import loops
import polling
import startup
import symbols
import table
from common import HERE, PERFWATCH, Skips, binary

SECTIONS = {
    'poll': polling.measure_polls,
    'memory': startup.measure_memory,
    'launch': startup.measure_launch,
    'run': startup.measure_whole_run,
    'loops': loops.measure_loops,
    'agree': agreement.measure_agreement,
    'symbols': symbols.measure_symbols,
    'capture': capture.measure_captures,
    'dumps': dumps.measure_dumps,
    'unwind': dumps.measure_unwinding,
    'attribution': attribution.measure_attribution,
}

NEEDED = ('pollloop', 'launch', 'threads', 'loops', 'spin', 'stalls', 'limit', 'libspin.so')


def machine():
    model = 'unknown'
    with open('/proc/cpuinfo') as file:
        for line in file:
            if line.startswith('model name'):
                model = line.partition(':')[2].strip()
                break
    commit = subprocess.run(
        ['git', '-C', HERE, 'rev-parse', '--short', 'HEAD'], capture_output=True, text=True)
    return {
        'cpu': model, 'cores': os.cpu_count(), 'kernel': platform.release(),
        'architecture': platform.machine(), 'commit': commit.stdout.strip() or None,
        'load': os.getloadavg()[0],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--only', default=','.join(SECTIONS))
    parser.add_argument('--threads', default='1,10,100,1000')
    options = parser.parse_args()
    only = options.only.split(',')
    if options.rounds < 1 or not set(only) <= set(SECTIONS):
        parser.error('--only takes some of ' + ','.join(SECTIONS) + ', --rounds one or more')
    counts = [int(count) for count in options.threads.split(',')]

    missing = [name for name in NEEDED if not os.path.exists(binary(name))]
    if missing or not os.access(PERFWATCH, os.X_OK):
        parser.error(f'not built: {", ".join(missing) or PERFWATCH}; run `make bench`, which builds '
                     'everything first')

    skips, rounds, about = Skips(), [], machine()
    print(f'perfwatch: {PERFWATCH}\nmachine: {about["cpu"]}, {about["cores"]} cores, '
          f'Linux {about["kernel"]}, load {about["load"]:.1f}', flush=True)
    folder = os.path.join(HERE, 'run')
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, time.strftime('%Y%m%d-%H%M%S') + '.json')
    try:
        for number in range(options.rounds):
            rounds.append({})
            for section in only:
                began = time.monotonic()
                SECTIONS[section](rounds[-1], number, counts, skips)
                rows = table.rows(rounds, counts, only)
                with open(path, 'w') as file:  # whatever ends us: what was measured is kept
                    json.dump({'machine': about, 'rounds': rounds, 'rows': rows,
                               'skipped': skips.reasons}, file, indent=1)
                print(f'round {number + 1} of {options.rounds}, {section}: '
                      f'{time.monotonic() - began:.0f} s', file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        print('interrupted: what was measured so far', file=sys.stderr)
    table.show(table.rows(rounds, counts, only), rounds, skips)
    print(f'raw values: {os.path.relpath(path)}')


if __name__ == '__main__':
    main()
