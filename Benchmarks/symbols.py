"""Names of a 30-frame stack in the largest library there is: ours, cold, against eu-addr2line's wall."""

import os
import random
import statistics
import subprocess
import time

from common import HERE, Failed

PROBE = os.environ.get('SYMBOLS_PROBE') or os.path.join(
    os.path.dirname(HERE), '.build', 'release', 'symbols-probe')
FOLDERS = ('/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu')
FRAMES, RUNS = 30, 7


def library():
    """The largest libLLVM, or else the largest library."""
    paths = [os.path.join(folder, name) for folder in FOLDERS if os.path.isdir(folder)
             for name in os.listdir(folder) if '.so' in name]
    paths = [path for path in paths if os.path.isfile(path) and not os.path.islink(path)]
    if not paths:
        raise Failed('no library found')
    return max(paths, key=lambda path: ('libLLVM' in path, os.path.getsize(path)))


def addresses(path, seed):
    names = subprocess.run(
        ['nm', '-D', '--defined-only', path], capture_output=True, text=True).stdout
    functions = [line.split()[0] for line in names.splitlines() if ' T ' in line or ' W ' in line]
    return random.Random(seed).sample(functions, min(FRAMES, len(functions)))


def wall(command):
    began = time.perf_counter_ns()
    if subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        raise Failed(f'{command[0]} failed')
    return (time.perf_counter_ns() - began) / 1000


def measure_symbols(values, number, counts, skips):
    """Both from exec to exit. `symbols-probe` is the program's own code behind a small main:
    swift build -c release --product symbols-probe -Xswiftc -static-executable"""
    try:
        path = library()
        frames = ['0x' + address for address in addresses(path, number)]
        commands = {'perfwatch': [PROBE, path, *frames],
                    'eu-addr2line': ['eu-addr2line', '-f', '-e', path, *frames]}
        taken = {name: [] for name in commands}
        for _ in range(RUNS):
            for name, command in commands.items():
                taken[name].append(wall(command))
        for name, times in taken.items():
            values[f'symbols/{name}'] = statistics.median(times)
    except (Failed, OSError, ValueError) as error:
        skips.add('symbols', error)
