"""How long one capture holds a running thread, next to the shortest stop that C can make.

The target counts its own gaps (src/spin.c): the pause of a capture is the sum of the gaps that
overlap it, up to 20 us after its end, so the wake-up after it is in. Targets: spin20 and spin1000
(24 and 1004 frames), and libraries (25 frames through some of the 600 that the program has loaded).
"""

import glob
import mmap
import os
import shutil
import statistics
import struct
import subprocess
import tempfile
import time

from common import BENCH, HERE, OBSERVER_CORE, TARGET_CORE, Failed, binary, end, start

GAPS, HEADER, AFTER = 65536, 32, 20000
TARGETS = {'spin20': 20, 'spin1000': 1000, 'libraries': 8}
TURNS, COUNT, INTERVAL = 4, 40, 2000
STACK = 256 << 10  # spin1000 has 69 KiB
LIBRARIES = 600


class Spinner:
    """A thread that spins so many calls deep, pinned, with its gaps in a shared file.

    `threads` others block beside it; with `libraries` the program has loaded so many; in Python the
    same code runs below ten Python functions.
    """

    def __init__(self, depth, threads=0, libraries=0, in_python=False):
        self.file = tempfile.NamedTemporaryFile(prefix='perfwatch-bench-')
        self.list = tempfile.NamedTemporaryFile('w', prefix='perfwatch-bench-')
        command = [binary('spin')]
        if in_python:
            command = [python(), os.path.join(HERE, 'src', 'pyspin.py'), binary('libspin.so')]
        self.command = [*command, self.file.name, str(depth), str(threads)]
        if libraries:
            self.command.append(self.list.name)
            self.list.write('\n'.join(some_libraries(libraries)))
            self.list.flush()

    def __enter__(self):
        self.process = start(self.command, TARGET_CORE, is_first=True, stdout=subprocess.PIPE)
        if self.process.stdout.readline() != b'ready\n':
            end(self.process)
            raise Failed('the spinning target did not start')
        self.map = mmap.mmap(self.file.fileno(), HEADER + 16 * GAPS, access=mmap.ACCESS_READ)
        return self

    def __exit__(self, *_):
        end(self.process)
        self.process.stdout.close()
        self.map.close()
        self.file.close()
        self.list.close()

    @property
    def pid(self):
        return str(self.process.pid)

    @property
    def mappings(self):
        with open(f'/proc/{self.pid}/maps') as file:
            return sum(1 for _ in file)

    def pauses(self, spans, least=0, after=AFTER):
        """us of gaps, of at least `least` ns each, within each span of (from, to) and `after` ns more."""
        time.sleep(0.02)  # until the target has written down the last one
        count = struct.unpack_from('Q', self.map, 0)[0]
        kept = [struct.unpack_from('QQ', self.map, HEADER + 16 * (i % GAPS))
                for i in range(max(0, count - GAPS), count)]
        return [sum(ns for at, ns in kept
                    if ns >= least and at + ns >= began and at <= ended + after) / 1e3
                for began, ended in spans]


def python():
    """The one in PATH: how long py-spy takes depends on its symbols."""
    return shutil.which('python3') or 'python3'


def some_libraries(count):
    """Of the system; those of sanitizers end a program that loads them late."""
    found = [path for folder in glob.glob('/usr/lib/*-linux-gnu')
             for path in sorted(glob.glob(f'{folder}/*.so.*')) if 'san.so' not in path]
    return found[:count]


def captures(command):
    """The spans that a capturing program printed, one a line."""
    process = start(command, OBSERVER_CORE, is_first=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    output, errors = process.communicate()
    if process.returncode != 0:
        raise Failed(errors.decode(errors='replace').strip() or f'ended with {process.returncode}')
    lines = [line.split() for line in output.decode().splitlines()]
    taken = [(int(line[0]), int(line[1])) for line in lines if len(line) > 3 and line[2] != '-']
    if len(taken) < len(lines) * 0.9 or not taken:
        raise Failed(f'only {len(taken)} of {len(lines)} captures were taken')
    return taken


def measure_captures(values, number, counts, skips):
    for name, depth in TARGETS.items():
        libraries = LIBRARIES if name == 'libraries' else 0
        try:
            with Spinner(depth, libraries=libraries) as spinner:
                values[f'capture/{name}/mappings'] = spinner.mappings
                measure_one(values, name, spinner, number, skips)
        except Failed as error:
            skips.add(f'captures, {name}', error)


def measure_one(values, target, spinner, number, skips):
    amounts = [str(COUNT), str(INTERVAL), str(STACK)]
    who = {'ours': [BENCH, spinner.pid, *amounts], 'limit': [binary('limit'), spinner.pid, *amounts]}
    found = {name: [] for name in who}
    for turn in range(TURNS):
        names = list(who) if (turn + number) % 2 else list(who)[::-1]
        for name in names:
            try:
                found[name] += spinner.pauses(captures(who[name]))
            except (Failed, ValueError) as error:
                skips.add(f'captures, {name}', error)
    for name, pauses in found.items():
        if pauses:
            values[f'capture/{target}/{name}'] = statistics.median(pauses)
            values[f'capture/{target}/{name}/p99'] = statistics.quantiles(pauses, n=100)[98]
