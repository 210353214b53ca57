"""Real programs under perfwatch: do its numbers agree with the kernel's, taken another way?

Launched: wait4 of perfwatch gives what the target and perfwatch used together (what /usr/bin/time
prints); less perfwatch's own word for itself it is the target's. Attached: ps and /proc/<pid>/stat
before and after. Values are how far apart the two are, in percent.
"""

import json
import os
import resource
import shutil
import subprocess
import tempfile
import time

from common import PERFWATCH, Failed

COMPUTES = 'x = [i * i for i in range(4_000_000)]; print(sum(x) % 7)'
NODE = 'const a = []; for (let i = 0; i < 4e6; i++) a.push({i}); console.log(a.length)'


def apart(ours, theirs):
    return abs(ours / theirs - 1) * 100


def launched(name, command, values, options=(), code=0, beside=None):
    """CPU and resident peak of a launched program; its exit code must come through."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'summary.json')
        process = subprocess.Popen(
            [PERFWATCH, 'run', '--quiet', *options, '--summary', path, '--', *command],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        if beside:
            beside()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != code:
            raise Failed(f'{name} ended with {process.returncode}, not {code}')
        with open(path) as file:
            summary = json.load(file)
    if summary['exit']['code'] != code:
        raise Failed(f'{name}: the summary says {summary["exit"]}')
    tree = summary.get('tree') if '--children' in options else None
    cpu = (tree['cpu'] if tree else summary['cpu']['total']) / 1e9
    kernel = usage.ru_utime + usage.ru_stime - summary['observer']['cpu'] / 1e9
    if kernel > 0.1:
        values[f'agree/{name}/cpu'] = apart(cpu, kernel)
    peak = summary['memory']['residentPeak']
    # The kernel lets it begin at the size of who forked perfwatch: at ours.
    ours = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if not tree and usage.ru_maxrss > 1.2 * ours:
        values[f'agree/{name}/peak'] = apart(peak, usage.ru_maxrss * 1024)


def redis(port, *options):
    return ['redis-server', '--port', str(port), '--save', '', '--appendonly', 'no', *options]


def load(port, requests):
    subprocess.run(['redis-benchmark', '-p', str(port), '-n', str(requests), '-q', '-t', 'set,get'],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def wait_for_redis(port):
    for _ in range(100):
        if subprocess.run(['redis-cli', '-p', str(port), 'ping'], capture_output=True).stdout == b'PONG\n':
            return
        time.sleep(0.05)
    raise Failed('redis did not start')


def measure_redis_launched(values):
    port = 7391

    def work():
        wait_for_redis(port)
        load(port, 100_000)
        subprocess.run(['redis-cli', '-p', str(port), 'shutdown', 'nosave'], capture_output=True)

    launched('redis', redis(port), values, beside=work)


def ps(pid):
    """(CPU seconds from /proc/<pid>/stat; resident bytes and threads from ps)"""
    words = subprocess.run(['ps', '-o', 'rss=,nlwp=', '-p', str(pid)],
                           capture_output=True, text=True).stdout.split()
    with open(f'/proc/{pid}/stat') as file:
        fields = file.read().rpartition(')')[2].split()
    ticks = int(fields[11]) + int(fields[12])
    return ticks / os.sysconf('SC_CLK_TCK'), int(words[0]) * 1024, int(words[1])


def measure_attached(values):
    port = 7392
    server = subprocess.Popen(redis(port), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for_redis(port)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'summary.json')
            before = ps(server.pid)
            watch = subprocess.Popen([PERFWATCH, 'attach', str(server.pid), '--quiet',
                                      '--summary', path], stderr=subprocess.DEVNULL)
            time.sleep(0.5)
            load(port, 200_000)
            after = ps(server.pid)
            watch.send_signal(2)
            watch.wait()
            with open(path) as file:
                summary = json.load(file)
        values['agree/redis attached/cpu'] = apart(summary['cpu']['total'] / 1e9, after[0] - before[0])
        values['agree/redis attached/peak'] = apart(summary['memory']['residentPeak'], after[1])
        if summary['threads']['atEnd'] != after[2]:
            raise Failed(f'{summary["threads"]["current"]} threads, ps has {after[2]}')
    finally:
        server.kill()
        server.wait()


def measure_swift(values):
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run(['swift', 'package', 'init', '--type', 'executable', '--name', 'sample'],
                              cwd=folder, capture_output=True)
        if made.returncode:
            raise Failed('no package could be made')
        launched('swift build', ['swift', 'build', '--package-path', folder], values,
                 options=['--children'])


def measure_agreement(values, number, counts, skips):
    jobs = {
        'python3': lambda: launched('python3', ['python3', '-c', COMPUTES], values),
        'node': lambda: launched('node', ['node', '-e', NODE], values),
        'sh': lambda: launched('sh', ['sh', '-c', 'exit 7'], values, code=7),
        'redis-server': lambda: measure_redis_launched(values),
        'redis-benchmark': lambda: measure_attached(values),
        'swift': lambda: measure_swift(values),
    }
    for program, job in jobs.items():
        if not shutil.which(program):
            skips.add(program, 'not installed')
            continue
        try:
            job()
        except (Failed, KeyError, TypeError, OSError, ValueError, subprocess.SubprocessError) as error:
            skips.add(f'agreement, {program}', error)
