"""What watching loop threads costs us, and what it costs the loop that is watched."""

import statistics
import subprocess
import time

from common import OBSERVER_CORE, TARGET_CORE, Failed, Watch, binary, cpu_ns, end, start

COUNTS, THRESHOLDS, OBSERVERS = (1, 4, 32), (50, 250), ('proc', 'kernel')
KINDS = ('paced', 'full')
OPENS = {1: 1.2, 4: 4.5, 32: 4.5}  # loops beside the main thread are found in the first seconds
WINDOW, SETTLES, SLICE, TURNS = 2.5, 0.6, 1.5, 3  # switch records begin at 0.25 s
WHO = 'perfwatch with stalls'


class Loops:
    """A program of loops, pinned, from `ready` until the end of the block."""

    def __init__(self, *arguments):
        self.command = [binary('loops'), *map(str, arguments)]

    def __enter__(self):
        self.process = start(
            self.command, TARGET_CORE, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if self.process.stdout.readline() != b'ready\n':
            end(self.process)
            raise Failed('the loops did not start')
        return self

    def __exit__(self, *_):
        end(self.process)
        self.process.stdin.close()
        self.process.stdout.close()

    def count(self):
        """(turns, CPU ns of the loop, wall ns) so far, by its own clocks."""
        self.process.stdin.write(b'?')
        self.process.stdin.flush()
        return [int(word) for word in self.process.stdout.readline().split()]

    def slice(self):
        """CPU and wall time, ns a turn, of a slice of time."""
        before = self.count()
        time.sleep(SLICE)
        turns, cpu, wall = (now - then for now, then in zip(self.count(), before))
        return cpu / turns, wall / turns


def watch(pid, duration, *options):
    return Watch('attach', str(pid), '-d', f'{duration:g}s', *options, core=OBSERVER_CORE)


def stalls(observer, threshold, selection='main'):
    return ['--observer', observer, '--stall-threshold', f'{threshold}ms', '--watch', selection]


def measure_cost(values, key, pid, count, options):
    """Our share of a core in percent, by our CPU clock read from outside."""
    watching = watch(pid, OPENS[count] + WINDOW + 1, *options)
    try:
        time.sleep(OPENS[count])
        cpu, at = cpu_ns(watching.process.pid), time.monotonic_ns()
        time.sleep(WINDOW)
        values[key] = (cpu_ns(watching.process.pid) - cpu) / (time.monotonic_ns() - at) * 100
    except OSError:
        end(watching.process)
    summary, _ = watching.finish()
    found = len(summary['loops'])
    if found != count and '--no-stalls' not in options:
        values.pop(key, None)
        raise Failed(f'{found} of {count} loops were found')


def measure_costs(values, number, skips):
    for count in COUNTS:
        with Loops('calm', count) as loops:
            pid = loops.process.pid
            jobs = [('none', ['--no-stalls'])]
            for observer in OBSERVERS:
                for threshold in THRESHOLDS:
                    jobs.append((f'{observer}/{threshold}', stalls(
                        observer, threshold, 'main' if count == 1 else 'loops')))
            turn = number % len(jobs)
            for name, options in jobs[turn:] + jobs[:turn]:
                try:
                    measure_cost(values, f'loops/{count}/{name}', pid, count, options)
                except (Failed, KeyError) as error:
                    skips.add(f'{WHO}, {name}', error)


def measure_slowdown(values, kind, observer, skips):
    """A, B, A, B, ... A: each slice under watch against the mean of the two beside it."""
    key = f'slowdown/{kind}/{observer}'
    cpu, wall, cpu_floor, wall_floor = [], [], [], []
    with Loops(kind) as loops:
        loops.slice()
        before = loops.slice()
        for _ in range(TURNS):
            watching = watch(loops.process.pid, SETTLES + SLICE + 0.6, *stalls(observer, 50))
            try:
                time.sleep(SETTLES)
                watched = loops.slice()
            finally:
                summary, _ = watching.finish()
            if not summary['loops'] or summary['loops'][0]['observer'] != observer:
                raise Failed(f'{observer} was not what observed')
            records = summary['observer']['capabilities'].get('switchRecords', 'no')
            if (kind, observer) == ('paced', 'proc') and not records.startswith('yes'):
                raise Failed(f'switch records: {records}')
            after = loops.slice()
            for place, ratios, floors in ((0, cpu, cpu_floor), (1, wall, wall_floor)):
                ratios.append(watched[place] * 2 / (before[place] + after[place]))
                floors.append(after[place] / before[place])
            before = after
    for name, ratios in (('cpu', cpu), ('wall', wall)):
        values[f'{key}/{name}'] = (statistics.median(ratios) - 1) * 100
    for name, floors in (('cpu', cpu_floor), ('wall', wall_floor)):
        values[f'{key}/{name}/floor'] = statistics.median(abs(ratio - 1) for ratio in floors) * 100


def measure_loops(values, number, counts, skips):
    measure_costs(values, number, skips)
    for kind in KINDS:
        for observer in OBSERVERS:
            try:
                measure_slowdown(values, kind, observer, skips)
            except (Failed, ValueError, KeyError, ZeroDivisionError) as error:
                skips.add(f'{WHO}, {observer}', error)
