"""`perfwatch dump` next to eu-stack, gdb and py-spy --native: how long the target felt it, and the wall.

A peer's pause is the sum of the target's own gaps of over 60 us while the peer ran, so that the
kernel's timer is not counted against it; ours is the sum of those of over 30 us (a timer's are 10 to
30, a stop's 40 and more) from the first capture to the last one. All threads: 1000 blocked ones and a main thread that spins.
"""

import json
import os
import shutil
import statistics
import subprocess
import time

from capture import LIBRARIES, Spinner, captures
from common import BENCH, HERE, OBSERVER_CORE, PERFWATCH, Failed, binary, start

LEAST, OUR_LEAST = 60000, 30000
THREADS = 1000
QUIET = {**os.environ, 'DEBUGINFOD_URLS': ''}


def ran(command, limit=60):
    """(from, to) of a command, pinned; raises Failed if it failed or took too long."""
    began = time.monotonic_ns()
    process = start(['timeout', str(limit), *command], OBSERVER_CORE, is_first=True, env=QUIET)
    if process.wait() not in (0, 1):  # eu-stack ends with 1 where a frame has no name
        raise Failed(f'{command[0]} ended with {process.returncode}')
    return began, time.monotonic_ns()


def dumped(pid, *options):
    """(first capture, last capture) of one of our dumps."""
    process = start([PERFWATCH, 'dump', '--json', *options, pid], OBSERVER_CORE,
                    is_first=True, stdout=subprocess.PIPE)
    output = process.communicate()[0]
    if process.returncode:
        raise Failed(f'perfwatch dump ended with {process.returncode}')
    dump = json.loads(output)
    return dump['monotonic'], dump['monotonic'] + dump['cost']['captureTime']


def pyspy():
    own = os.path.join(HERE, '.venv', 'bin', 'py-spy')
    found = own if os.access(own, os.X_OK) else shutil.which('py-spy')
    if not found:
        raise Failed('not installed (a Python package)')
    return found


def peers(target, pid):
    """Each peer's command for one thread; a function, as it may not be there."""
    every = {'eu-stack': lambda: (['eu-stack', '-1', '-n', '0', '-p', pid], 5)}
    if target == 'spin20':
        every['gdb'] = lambda: (['gdb', '-nx', '-batch', '-p', pid, '-ex', 'bt'], 1)
    if target == 'python':
        every = {'py-spy': lambda: ([pyspy(), 'dump', '--native', '--pid', pid], 3)}
    return every


def measure_dumps(values, number, counts, skips):
    targets = {'spin20': {'depth': 20}, 'spin1000': {'depth': 1000},
               'libraries': {'depth': 8, 'libraries': LIBRARIES},
               'python': {'depth': 20, 'in_python': True}}
    for target, how in targets.items():
        try:
            with Spinner(**how) as spinner:
                measure_target(values, target, spinner, number, skips)
        except Failed as error:
            skips.add(f'dumps, {target}', error)
    try:
        with Spinner(20, threads=THREADS) as spinner:
            measure_threads(values, spinner, number, skips)
    except Failed as error:
        skips.add('dumps, all threads', error)


def measure_target(values, target, spinner, number, skips):
    def ours():
        spans = [dumped(spinner.pid, '--main') for _ in range(5)]
        pauses = spinner.pauses(spans, OUR_LEAST)
        values[f'dump/{target}/ours'] = statistics.median(pauses)

    def peer(name, make):
        try:
            command, times = make()
            spans = [ran(command) for _ in range(times)]
        except Failed as error:
            skips.add(name, error)
            return
        pauses = [pause for pause in spinner.pauses(spans, LEAST, 1000000)
                  if pause > 0]
        if pauses:
            values[f'dump/{target}/{name}'] = statistics.median(pauses)
        else:
            skips.add(name, f'did not stop the target ({target})')

    jobs = [ours] + [lambda name=name, make=make: peer(name, make)
                     for name, make in peers(target, spinner.pid).items()]
    for job in jobs if number % 2 else jobs[::-1]:
        job()


def measure_threads(values, spinner, number, skips):
    def ours():
        spans = [dumped(spinner.pid) for _ in range(5)]
        values['dump/threads/ours'] = statistics.median(spinner.pauses(spans, OUR_LEAST))
        # As text, as eu-stack prints it.
        spans = [ran([PERFWATCH, 'dump', spinner.pid]) for _ in range(5)]
        values['dump/threads/ours/wall'] = statistics.median((s[1] - s[0]) / 1e3 for s in spans)

    def stop_all():
        spans = captures([binary('limit'), spinner.pid, '3', '2000', str(16 << 10), 'all'])
        values['dump/threads/stop-all'] = statistics.median(spinner.pauses(spans))

    def eu_stack():
        span = ran(['eu-stack', '-n', '0', '-p', spinner.pid], 300)
        values['dump/threads/eu-stack/wall'] = (span[1] - span[0]) / 1e3

    jobs = {'perfwatch': ours, 'stop-all': stop_all, 'eu-stack': eu_stack}
    for name in list(jobs) if number % 2 else list(jobs)[::-1]:
        try:
            jobs[name]()
        except (Failed, ValueError) as error:
            skips.add(f'{name}, all threads', error)


def measure_unwinding(values, number, counts, skips):
    """Median ns a frame of many warm walks over one copy, three alternating runs of each."""
    for depth in (20, 1000):
        try:
            with Spinner(depth) as spinner:
                who = {'ours': [BENCH, 'unwind'], 'libunwind': [binary('unwindpeer')]}
                found = {name: [] for name in who}
                for turn in range(3):
                    for name in list(who) if (turn + number) % 2 else list(who)[::-1]:
                        found[name].append(walked([*who[name], spinner.pid, '15', str(256 << 10)]))
                for name, times in found.items():
                    values[f'unwind/spin{depth}/{name}'] = statistics.median(times)
        except (Failed, ValueError) as error:
            skips.add('libunwind', error)


def walked(command):
    process = start(command, OBSERVER_CORE, is_first=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    output, errors = process.communicate()
    if process.returncode:
        raise Failed(errors.decode(errors='replace').strip() or f'ended with {process.returncode}')
    return float(output.split()[1])
