"""CPU per poll of perfwatch, of the C loops and of the peers, on the same live target.

The window opens half a period after a poll, so that it holds the same number of polls for all.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time

from common import OBSERVER_CORE, Failed, Target, Watch, binary, cpu_ns, end, resident_peak, start

HZ, OPENS, WINDOW, WATCHED = 10, 0.55, 4.0, 5.0
KINDS = ('busy', 'awake')

# One byte a poll goes to the output, so that the polls can be counted from outside.
PSUTIL_LOOP = '''
import os, sys, time, psutil
process, period, at = psutil.Process(int(sys.argv[1])), 0.1, time.monotonic()
while True:
    at = max(at + period, time.monotonic() - period)
    time.sleep(max(0, at - time.monotonic()))
    process.cpu_times(), process.memory_info(), process.threads()
    os.write(1, b".")
'''


def window(process, polls_so_far):
    """(CPU in us per poll, VmHWM) between opening and closing of the window."""
    began = time.monotonic()
    time.sleep(OPENS)
    try:
        first, cpu, opened = polls_so_far(time.monotonic() - began), cpu_ns(process.pid), time.monotonic()
        time.sleep(WINDOW)
        cpu = cpu_ns(process.pid) - cpu
        polls = polls_so_far(time.monotonic() - opened + OPENS) - first
        peak = resident_peak(process.pid)
    except (OSError, ProcessLookupError):
        raise Failed('it ended before the window closed') from None
    if process.poll() is not None or polls <= 0:
        raise Failed('it ended or did not poll')
    return cpu / polls / 1000, peak


def by_time(elapsed):
    return elapsed * HZ


def poll_loop(mode):
    def measure(pid, values, key):
        process = start([binary('pollloop'), str(pid), str(HZ), '60', mode], OBSERVER_CORE)
        try:
            values[key], _ = window(process, by_time)
        finally:
            end(process)
    return measure


def counted(command, count):
    """A peer whose polls are counted in its output by `count(bytes)`."""
    with tempfile.TemporaryFile() as output:
        process = start(command, OBSERVER_CORE, stdout=output)
        try:
            return window(process, lambda _: count(os.pread(output.fileno(), 1 << 30, 0)))[0]
        finally:
            end(process)


def top(pid, values, key):
    if not shutil.which('top'):
        raise Failed('not installed (procps)')
    command = ['top', '-H', '-b', '-d', '0.1', '-p', str(pid)]
    values[key] = counted(command, lambda text: text.count(b'top - '))


def psutil(pid, values, key):
    for python in ('/usr/bin/python3', sys.executable):  # Debian's package serves Debian's Python
        try:
            found = subprocess.run([python, '-c', 'import psutil'], capture_output=True)
        except OSError:
            continue
        if found.returncode == 0:
            values[key] = counted([python, '-c', PSUTIL_LOOP, str(pid)], len)
            return
    raise Failed('not installed (python3-psutil)')


def perfwatch(pid, values, key):
    """From outside, then twice more to check: its own word, and getrusage less that of a short run."""
    watch = Watch('attach', '--no-stalls', str(pid), '-d', f'{WATCHED:g}s', core=OBSERVER_CORE)
    try:
        cpu, peak = window(watch.process, by_time)
    except Failed:
        end(watch.process)
        raise
    summary, used = watch.finish()
    observer, seconds = summary['observer'], summary['run']['duration'] / 1e9
    short, used_short = Watch('attach', '--no-stalls', str(pid), '-d', '300ms', core=OBSERVER_CORE).finish()
    polls = observer['probes']
    values[key] = cpu * HZ / (polls / seconds)  # skipped ticks do not make it look cheaper
    values[key + '/peak'] = peak
    values[key + '/own'] = observer['cpu'] / polls / 1000
    values[key + '/rusage'] = (used - used_short) * 1e6 / max(1, polls - short['observer']['probes'])
    values[key + '/polls'], values[key + '/late'] = polls, observer['lateProbes']


OBSERVERS = {
    'perfwatch': perfwatch, 'kept': poll_loop('kept'), 'lean': poll_loop('lean'),
    'timer': poll_loop('timer'), 'top': top, 'psutil': psutil,
}


def measure_polls(values, number, counts, skips):
    names = list(OBSERVERS)
    turn = number % len(names)
    for count in counts:
        for kind in KINDS:
            with Target(kind, count) as pid:
                for name in names[turn:] + names[:turn]:
                    if name == 'timer' and kind != 'busy':
                        continue
                    try:
                        OBSERVERS[name](pid, values, f'poll/{kind}/{count}/{name}')
                    except (Failed, KeyError, TypeError, ZeroDivisionError) as error:
                        skips.add(name, error)
