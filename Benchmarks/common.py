"""Running pinned programs and reading their clocks from outside."""

import json
import os
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.path.join(HERE, 'bin')
PERFWATCH = os.environ.get('PERFWATCH') or os.path.join(
    os.path.dirname(HERE), '.build', 'release', 'perfwatch')
BENCH = os.environ.get('CAPTUREBENCH') or os.path.join(
    os.path.dirname(HERE), '.build', 'release', 'CaptureBench')
CORES = sorted(os.sched_getaffinity(0))
TARGET_CORE, OBSERVER_CORE = CORES[0], CORES[-1]


class Skips:
    """Why a peer gave no numbers; the first reason of each stands."""

    def __init__(self):
        self.reasons = {}

    def add(self, who, why):
        self.reasons.setdefault(who, ' '.join(str(why).split())[:200])


class Failed(Exception):
    pass


def binary(name):
    return os.path.join(BIN, name)


def start(command, core=None, is_first=False, **streams):
    """Starts a program, on one core if given; whatever streams are not named go to /dev/null.

    `is_first` is for what is timed in microseconds: before others on its core, where permitted.
    """
    for stream in ('stdin', 'stdout', 'stderr'):
        streams.setdefault(stream, subprocess.DEVNULL)
    def place():
        if core is not None:
            os.sched_setaffinity(0, {core})
        if is_first:
            os.setsid()  # for a scheduling group of its own, whose weight counts against others
            try:
                os.setpriority(os.PRIO_PROCESS, 0, -20)
                with open('/proc/self/autogroup', 'w') as file:
                    file.write('-20')
            except OSError:
                pass

    try:
        return subprocess.Popen(command, preexec_fn=place, **streams)
    except OSError as error:
        raise Failed(f'{command[0]}: {error.strerror}') from None


def reap(process):
    """(exit code or -signal, seconds of CPU) of a child, by wait4."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime


def end(process):
    if process.returncode is None:
        process.kill()  # which first looks whether it has ended, and then reaps it
    if process.returncode is None:
        reap(process)


def cpu_ns(pid):
    """The process's CPU clock, exited threads included; clock_getcpuclockid(3)."""
    return time.clock_gettime_ns((~pid << 3) | 2)


def resident_peak(pid):
    """VmHWM in bytes."""
    with open(f'/proc/{pid}/status') as file:
        for line in file:
            if line.startswith('VmHWM:'):
                return int(line.split()[1]) * 1024
    return None


class Target:
    """The watched program, pinned, from `ready` until the end of the block."""

    def __init__(self, kind, count):
        self.command = [binary('threads'), kind, str(count)]

    def __enter__(self):
        self.process = start(self.command, TARGET_CORE, stdout=subprocess.PIPE)
        if self.process.stdout.readline() != b'ready\n':
            end(self.process)
            raise Failed('the target did not start')
        return self.process.pid

    def __exit__(self, *_):
        end(self.process)
        self.process.stdout.close()


class Watch:
    """One `perfwatch` command with its summary: `start`, then `finish`."""

    def __init__(self, *arguments, core=None, stdout=subprocess.DEVNULL):
        self.folder = tempfile.TemporaryDirectory(prefix='perfwatch-bench-')
        self.file = os.path.join(self.folder.name, 'summary.json')
        self.errors = open(os.path.join(self.folder.name, 'stderr'), 'w+b')
        split = list(arguments)
        at = split.index('--') if '--' in split else len(split)
        command = [PERFWATCH, *split[:at], '--quiet', '--summary', self.file, *split[at:]]
        self.process = start(command, core, stdout=stdout, stderr=self.errors)

    def finish(self):
        """(summary, seconds of CPU); raises Failed with what perfwatch said."""
        try:
            code, cpu = reap(self.process)
            self.errors.seek(0)
            said = self.errors.read().decode(errors='replace').strip()
            if code != 0:
                raise Failed(f'perfwatch ended with {code}: {said}')
            try:
                with open(self.file) as file:
                    return json.load(file), cpu
            except (OSError, ValueError) as error:
                raise Failed(f'no summary: {error}') from None
        finally:
            self.errors.close()
            self.folder.cleanup()
