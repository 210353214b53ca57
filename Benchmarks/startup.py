"""What launching through perfwatch costs, and the memory it holds while it polls."""

import os
import shutil
import statistics
import subprocess
import tempfile
import time

from common import (
    HERE, OBSERVER_CORE, PERFWATCH, Failed, Target, Watch, binary, end, reap, resident_peak, start)

BLOCKS, SPAWNS, RUNS, WALLS = 5, 20, 8, 40


def measure_memory(values, number, counts, skips):
    """VmHWM of perfwatch polling ten threads, and of a hello that waits."""
    try:
        with Target('busy', 10) as pid:
            watch = Watch('attach', str(pid), '-d', '2s', core=OBSERVER_CORE)
            time.sleep(1.5)
            try:
                values['memory/perfwatch'] = resident_peak(watch.process.pid)
            finally:
                watch.finish()
    except (Failed, OSError) as error:
        values.pop('memory/perfwatch', None)
        skips.add('perfwatch', error)
    for name in ('hello', 'hello-static'):
        try:
            process = start([binary(name), 'wait'], OBSERVER_CORE, stdin=subprocess.PIPE)
            wait_until_idle(process.pid)
            values[f'memory/{name}'] = resident_peak(process.pid)
            process.stdin.close()
            reap(process)
        except (Failed, OSError) as error:
            skips.add(name, error)


def wait_until_idle(pid):
    """Until it has run as far as it goes by itself: on a busy machine that may take its time."""
    last = None
    for _ in range(50):
        time.sleep(0.1)
        with open(f'/proc/{pid}/schedstat') as file:
            now = file.read().split()[0]
        if now == last and int(now) > 0:
            return
        last = now
    raise Failed('it did not come to rest')


def one_launch():
    """ns from perfwatch's decision to launch (run.startMonotonic) to main() of the target."""
    reading, writing = os.pipe()
    try:
        watch = Watch('run', '--', binary('launch'), 'stamp', stdout=writing)
    except Failed:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    with open(reading) as stream:
        text = stream.read()
    summary, _ = watch.finish()
    return int(text) - summary['run']['startMonotonic']


def measure_launch(values, number, counts, skips):
    """Not pinned: a launcher and what it launched run side by side, as in use."""
    taken = {}
    for _ in range(BLOCKS):
        for mode in ('spawn', 'barrier'):
            output = subprocess.run(
                [binary('launch'), mode, str(SPAWNS)], capture_output=True, text=True)
            if output.returncode:
                skips.add(mode, 'launch failed')
            taken.setdefault(mode, []).extend(int(line) for line in output.stdout.split())
        try:
            taken.setdefault('perfwatch', []).extend(one_launch() for _ in range(RUNS))
        except (Failed, ValueError, KeyError, TypeError) as error:
            skips.add('perfwatch', error)
    for name, times in taken.items():
        if times:
            values[f'launch/{name}'] = statistics.median(times) / 1000


def wall(command):
    began = time.perf_counter_ns()
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=[
        (os.POSIX_SPAWN_OPEN, fd, '/dev/null', os.O_RDWR, 0) for fd in (0, 1, 2)])
    _, status = os.waitpid(pid, 0)
    if status:
        raise Failed(f'{command[0]} ended with {os.waitstatus_to_exitcode(status)}')
    return (time.perf_counter_ns() - began) / 1000


def measure_whole_run(values, number, counts, skips):
    """Of copies, as installed programs are: how a linker has written a file decides how its pages come."""
    with tempfile.TemporaryDirectory(dir=HERE) as folder:
        measure_copies(values, skips, lambda path: shutil.copy(path, folder))


def measure_copies(values, skips, copy):
    true = '/bin/true'
    commands = {
        'true': [true], 'perfwatch': [copy(PERFWATCH), 'run', '--quiet', '--', true],
        'hello': [copy(binary('hello'))], 'hello-static': [copy(binary('hello-static'))],
    }
    taken = {name: [] for name in commands}
    # A perfwatch that does not pass the target's exit code on does not run it.
    try:
        code = reap(start([PERFWATCH, 'run', '--quiet', '--', '/bin/false']))[0]
    except Failed as error:
        code = error
    if code != 1:
        skips.add('perfwatch', f'`run --quiet /bin/false` gave {code}, not 1')
        del commands['perfwatch']
    for _ in range(WALLS):
        for name, command in commands.items():
            try:
                taken[name].append(wall(command))
            except (Failed, OSError) as error:
                skips.add(name, error)
    for name, times in taken.items():
        if times:
            values[f'run/{name}'] = statistics.median(times)
