"""How long one capture holds a running thread, next to the shortest stop that C can make.

The target counts its own gaps (src/spin.c): the pause of a capture is the sum of the gaps that
overlap it, up to 20 us after its end, so the wake-up after it is in.
"""

import mmap
import os
import statistics
import struct
import subprocess
import tempfile

from common import HERE, OBSERVER_CORE, TARGET_CORE, Failed, binary, end, start

GAPS, HEADER, AFTER = 65536, 32, 20000
DEPTHS, TURNS, COUNT, INTERVAL = (20, 1000), 4, 40, 2000
STACK = 256 << 10  # spin1000 has 69 KiB
BENCH = os.environ.get('CAPTUREBENCH') or os.path.join(
    os.path.dirname(HERE), '.build', 'release', 'CaptureBench')


class Spinner:
    """A thread that spins so many calls deep, pinned, with its gaps in a shared file."""

    def __init__(self, depth):
        self.file = tempfile.NamedTemporaryFile(prefix='perfwatch-bench-')
        self.command = [binary('spin'), self.file.name, str(depth)]

    def __enter__(self):
        self.process = start(self.command, TARGET_CORE, stdout=subprocess.PIPE)
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

    def pauses(self, spans):
        """us of gaps within each span of (from, to)."""
        count = struct.unpack_from('Q', self.map, 0)[0]
        kept = [struct.unpack_from('QQ', self.map, HEADER + 16 * (i % GAPS))
                for i in range(max(0, count - GAPS), count)]
        found = []
        for began, ended in spans:
            found.append(sum(ns for at, ns in kept if at + ns >= began and at <= ended + AFTER) / 1e3)
        return found


def captures(command):
    """The spans that a capturing program printed, one a line."""
    process = start(command, OBSERVER_CORE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    output, errors = process.communicate()
    if process.returncode != 0:
        raise Failed(errors.decode(errors='replace').strip() or f'ended with {process.returncode}')
    lines = [line.split() for line in output.decode().splitlines()]
    taken = [(int(line[0]), int(line[1])) for line in lines if len(line) > 3 and line[2] != '-']
    if len(taken) < len(lines) * 0.9 or not taken:
        raise Failed(f'only {len(taken)} of {len(lines)} captures were taken')
    return taken


def measure_captures(values, number, counts, skips):
    for depth in DEPTHS:
        with Spinner(depth) as spinner:
            pid, amounts = str(spinner.process.pid), [str(COUNT), str(INTERVAL), str(STACK)]
            who = {'ours': [BENCH, pid, *amounts], 'limit': [binary('limit'), pid, *amounts]}
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
                    values[f'capture/{depth}/{name}'] = statistics.median(pauses)
                    values[f'capture/{depth}/{name}/p99'] = statistics.quantiles(pauses, n=100)[98]
