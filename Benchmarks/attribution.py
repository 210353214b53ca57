"""What it costs to look why a stall was: runs that differ in `--no-causes` alone, by our own CPU clock."""

import os
import statistics
import time

from common import HERE, OBSERVER_CORE, TARGET_CORE, Failed, Watch, cpu_ns, end, start

STALLS = os.path.join(HERE, 'bin', 'stalls')
# A lock with its holder, and waits for others. So many stalls that what a run costs once is little.
KINDS = ('lock', 'pipe', 'child', 'unix', 'tcp')
COUNT = 20
PAIRS = 2
WINDOW = 4.0


def run(kind, *options):
    """(CPU ns of perfwatch, stalls, seconds) of one run."""
    watching = Watch('run', '--stall-threshold', '100ms', *options, '--',
                     STALLS, kind, str(COUNT), core=OBSERVER_CORE)
    summary, _ = watching.finish()
    observer = summary['observer']
    return observer['cpu'], len(summary['stalls']), summary['run']['duration'] / 1e9


def measure_attribution(values, number, counts, skips):
    """CPU a stall, and the share of a core outside of stalls, in turns: with, without, without, with."""
    for kind in KINDS:
        try:
            with_it, without = [], []
            for pair in range(PAIRS):
                turns = [(with_it, ()), (without, ('--no-causes',))]
                for into, options in turns if (pair + number) % 2 else reversed(turns):
                    cpu, stalls, _ = run(kind, *options)
                    if stalls != COUNT:
                        raise Failed(f'{stalls} of {COUNT} stalls were seen')
                    into.append(cpu / stalls)
            values[f'attribution/{kind}'] = (
                statistics.median(with_it) - statistics.median(without)) / 1e3
        except (Failed, KeyError, TypeError, OSError) as error:
            skips.add(f'perfwatch, causes of {kind}', error)
    shares = {(): [], ('--no-causes',): []}
    for pair in range(PAIRS):
        for options in list(shares) if (pair + number) % 2 else list(reversed(shares)):
            try:
                shares[options].append(calm_share(*options))
            except (Failed, KeyError, OSError) as error:
                skips.add('perfwatch, causes outside of stalls', error)
    if all(shares.values()):
        on, off = (statistics.median(values) for values in shares.values())
        values['attribution/outside'] = on - off


def calm_share(*options):
    """Percent of a core by our clock, of a loop of 50 short turns a second."""
    target = start([os.path.join(HERE, 'bin', 'loops'), 'calm', '1'], TARGET_CORE)
    try:
        watching = Watch('attach', str(target.pid), '-d', f'{WINDOW + 2.5:g}s', '--stall-threshold',
                         '50ms', *options, core=OBSERVER_CORE)
        try:
            time.sleep(1.5)
            cpu, at = cpu_ns(watching.process.pid), time.monotonic_ns()
            time.sleep(WINDOW)
            share = (cpu_ns(watching.process.pid) - cpu) / (time.monotonic_ns() - at) * 100
        except OSError:
            end(watching.process)
            raise
        watching.finish()
        return share
    finally:
        end(target)
