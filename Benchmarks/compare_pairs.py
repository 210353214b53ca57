#!/usr/bin/env python3
"""How good is `perfwatch compare`: false alarms on equal programs, changes found on changed ones.

usage: compare_pairs.py [--pairs N] [--runs N] [--kinds aa,cpu,stall] [--seed N] [--keep FOLDER]
                        [--jobs N] [--perfwatch FILE]

A pair is two groups of runs of compare_load, taken in turns (A B B A A B ...), that `perfwatch compare` holds
against each other:

  aa     the same program twice;             wanted: at most 1 of 20 called worse
  cpu    8 % more CPU time in each turn;     wanted: 19 of 20 called worse
  stall  the one stall is 60 ms longer;      wanted: 19 of 20 called worse

With --pairs 40 that is at most 2 and at least 38 of 40, which takes about a quarter of an hour.
Prints, for each kind, how often the answer was worse, same, better or indeterminate, and of wrong answers
which metrics led to them; ends with 1 where a kind is not what is wanted.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# Milliseconds of CPU in each of the turns on a machine at its best, and of the one stall: before and after.
KINDS = {'aa': ((10, 300), (10, 300)), 'cpu': ((10, 0), (10.8, 0)), 'stall': ((1, 300), (1, 360))}
TURNS = 40


class Failed(Exception):
    pass


def run(options, load, values, file):
    work, stall = values
    rounds = str(round(work * options.speed))
    command = [options.perfwatch, 'run', '-q', '--summary', file, '--', load, str(TURNS), rounds, str(stall)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f'{" ".join(command)}: {done.returncode}: {done.stderr.strip()}')


def pair(options, load, kind, folder, seed):
    """Runs one pair; what `compare` says of it."""
    order = []
    chooser = random.Random(seed)
    # Which of both goes first is drawn anew for each round: what drifts hits both alike.
    for number in range(options.runs):
        order += [(side, number) for side in chooser.sample((0, 1), 2)]
    files = ([], [])
    for side, number in order:
        file = f'{folder}/{kind}-{seed}-{"base" if side == 0 else "head"}-{number}.json'
        run(options, load, KINDS[kind][side], file)
        files[side].append(file)
    done = subprocess.run(
        [options.perfwatch, 'compare', '--json', ','.join(files[0]), ','.join(files[1])],
        capture_output=True, text=True, check=False)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        raise Failed(f'compare: {done.returncode}: {done.stderr.strip()}') from None
    if (done.returncode == 1) != (answer['result'] == 'worse'):
        raise Failed(f'compare says {answer["result"]} and ends with {done.returncode}')
    return answer


def reasons(answer):
    names = [m['metric'] for m in answer['metrics'] if m['result'] == answer['result']]
    if answer['result'] == 'worse':
        names += [f'{s["kind"]} stall {s["signature"]}' for s in answer['signatures'] if s['kind'] != 'gone']
    return names or ['nothing']


def judge(kind, pairs, worse):
    """Whether that many answers are good enough; and what was wanted."""
    if kind == 'aa':
        return worse <= pairs // 20, f'at most {pairs // 20}'
    wanted = -(-pairs * 19 // 20)
    return worse >= wanted, f'at least {wanted}'


def measure(options, load, folder):
    good = True
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for kind in options.kinds.split(','):
            seeds = [options.seed + number for number in range(options.pairs)]
            answers = list(pool.map(lambda seed: pair(options, load, kind, folder, seed), seeds))
            counts = collections.Counter(answer['result'] for answer in answers)
            is_good, wanted = judge(kind, options.pairs, counts['worse'])
            good &= is_good
            listed = ', '.join(f'{name} {counts[name]}' for name in ('worse', 'same', 'better', 'indeterminate'))
            print(f'{kind:5} {options.pairs} pairs of {options.runs}+{options.runs} runs: {listed}; '
                  f'worse wanted: {wanted}: {"ok" if is_good else "MISSED"}', flush=True)
            for number, answer in enumerate(answers):
                if (answer['result'] == 'worse') == (kind == 'aa'):
                    print(f'      pair {number}: {answer["result"]}: {", ".join(reasons(answer))}')
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--pairs', type=int, default=40)
    parser.add_argument('--runs', type=int, default=5, help='of each group of a pair')
    parser.add_argument('--kinds', default='aa,cpu,stall')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--jobs', type=int, default=1, help='pairs at a time')
    parser.add_argument('--keep', help='a folder for all summaries')
    parser.add_argument('--perfwatch', default=str(HERE.parent / '.build/release/perfwatch'))
    options = parser.parse_args()
    unknown = set(options.kinds.split(',')) - set(KINDS)
    if unknown or min(options.pairs, options.runs, options.jobs) < 1:
        parser.error(f'no kind {", ".join(sorted(unknown))}' if unknown else 'numbers begin at 1')
    with tempfile.TemporaryDirectory() as own:
        load = f'{own}/compare_load'
        subprocess.run(['gcc', '-O2', '-g', '-o', load, str(HERE / 'src/compare_load.c')], check=True)
        options.speed = float(subprocess.run([load], capture_output=True, text=True, check=True).stdout)
        if options.keep:
            pathlib.Path(options.keep).mkdir(parents=True, exist_ok=True)
        try:
            return 0 if measure(options, load, options.keep or own) else 1
        except Failed as error:
            print(f'compare_pairs: {error}', file=sys.stderr)
            return 2


if __name__ == '__main__':
    sys.exit(main())
