#!/usr/bin/env python3
"""What ci/ offers is what GitHub and GitLab take, and what the pages in Docs show of it is true.

Of the two formats only the part that we use is written down here, so that a key that is spelled wrong
or stands in the wrong place is found; source: the reference pages of both.
"""

import re
import subprocess
import sys

import yaml

from swiftsource import finish, read, self_test

ACTION, GITLAB = 'ci/action.yml', 'ci/gitlab.yml'
PAGES = ('Docs/ci.md', 'Docs/first-ci-job.md')
NAME = re.compile(r'[A-Za-z_][A-Za-z0-9_-]*')
EXPRESSION = re.compile(r'\$\{\{\s*(.*?)\s*\}\}')


def keys(where, value, allowed, required=()):
    if not isinstance(value, dict):
        return [f'{where}: no mapping']
    problems = [f'{where}: unknown key {key}' for key in value if key not in allowed]
    return problems + [f'{where}: {key} is missing' for key in required if key not in value]


def text(where, value):
    return [] if isinstance(value, str) and value.strip() else [f'{where}: no text']


def shell(where, script, program):
    done = subprocess.run([program, '-n'], input=script, capture_output=True, text=True, check=False)
    return [f'{where}: {program}: {done.stderr.strip()}'] if done.returncode else []


def check_action(source):
    try:
        action = yaml.safe_load(source)
    except yaml.YAMLError as error:
        return [f'{ACTION}: {error}'.replace('\n', ' ')]
    problems = keys(
        ACTION, action, ('name', 'description', 'author', 'branding', 'inputs', 'outputs', 'runs'),
        ('name', 'description', 'inputs', 'outputs', 'runs'))
    if problems:
        return problems
    inputs, outputs, runs = action['inputs'], action['outputs'], action['runs']
    for name, value in inputs.items():
        where = f'{ACTION}: input {name}'
        if not NAME.fullmatch(name):
            problems.append(f'{where}: no name')
        problems += keys(where, value, ('description', 'required', 'default'), ('description',))
        problems += text(f'{where}: description', value.get('description'))
        if not isinstance(value.get('required', False), bool):
            problems.append(f'{where}: required is neither true nor false')
        if ('default' in value) == value.get('required', False):
            problems.append(f'{where}: either required or with a default')
        if not isinstance(value.get('default', ''), str):
            problems.append(f'{where}: the default is no text')
    problems += keys(f'{ACTION}: runs', runs, ('using', 'steps'), ('using', 'steps'))
    if runs.get('using') != 'composite':
        problems.append(f'{ACTION}: runs.using is not composite')
    steps, used = set(), set()
    for number, step in enumerate(runs.get('steps') or [], 1):
        where = f'{ACTION}: step {number}'
        problems += keys(
            where, step, ('name', 'id', 'if', 'shell', 'working-directory', 'env', 'run'),
            ('shell', 'run'))
        steps.add(step.get('id'))
        if EXPRESSION.search(step.get('run', '')):
            problems.append(f'{where}: an expression in a script: hand it over in env')
        problems += shell(where, step.get('run', ''), 'bash')
        for value in [step.get('working-directory', '')] + list((step.get('env') or {}).values()):
            for inner in EXPRESSION.findall(value):
                used.add(inner.removeprefix('inputs.'))
                if not inner.startswith('inputs.'):
                    problems.append(f'{where}: ${{{{ {inner} }}}} is no input')
        for name in (step.get('env') or {}):
            if not re.search(r'\$\{?' + name + r'\b', step.get('run', '')):
                problems.append(f'{where}: {name} is not used')
    problems += [f'{ACTION}: input {name} is not there' for name in sorted(used - set(inputs))]
    problems += [f'{ACTION}: input {name} is not used' for name in sorted(set(inputs) - used)]
    for name, value in outputs.items():
        where = f'{ACTION}: output {name}'
        problems += keys(where, value, ('description', 'value'), ('description', 'value'))
        found = re.fullmatch(
            r'\$\{\{ steps\.([\w-]+)\.outputs\.([\w-]+) \}\}', str(value.get('value')))
        if not found or found[1] not in steps:
            problems.append(f'{where}: not the output of a step')
        elif f'echo "{found[2]}=' not in ''.join(s.get('run', '') for s in runs['steps']):
            problems.append(f'{where}: no step writes it')
    return problems


JOB = ('variables', 'script', 'before_script', 'after_script', 'artifacts', 'extends', 'stage', 'image',
       'allow_failure', 'rules', 'needs')


def check_job(where, job, needs_script=True):
    problems = keys(where, job, JOB, ('script',) if needs_script else ())
    if problems:
        return problems
    for name, value in job.get('variables', {}).items():
        if not re.fullmatch(r'[A-Z][A-Z0-9_]*', name):
            problems.append(f'{where}: no variable: {name}')
        if not isinstance(value, str):
            problems.append(f'{where}: {name} is no text')
    for part in ('script', 'before_script', 'after_script'):
        lines = job.get(part, [])
        if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
            problems.append(f'{where}: {part} is no list of lines')
        else:
            problems += shell(f'{where}: {part}', '\n'.join(lines), 'sh')
    artifacts = job.get('artifacts', {})
    problems += keys(f'{where}: artifacts', artifacts, ('when', 'paths', 'reports', 'expire_in'))
    if artifacts.get('when', 'always') not in ('always', 'on_success', 'on_failure'):
        problems.append(f'{where}: artifacts.when')
    reports = artifacts.get('reports', {})
    problems += keys(f'{where}: reports', reports, ('junit', 'codequality'))
    # A report of a failed job is what it is for.
    if reports and artifacts.get('when') != 'always':
        problems.append(f'{where}: reports are kept only of jobs that pass')
    return problems


def check_gitlab(source):
    try:
        jobs = yaml.safe_load(source)
    except yaml.YAMLError as error:
        return [f'{GITLAB}: {error}'.replace('\n', ' ')]
    problems = []
    for name, job in jobs.items():
        where = f'{GITLAB}: {name}'
        if not name.startswith('.'):
            problems.append(f'{where}: runs wherever the file is included; begin it with a dot')
        problems += check_job(where, job)
        script = '\n'.join(job.get('script', []))
        problems += [
            f'{where}: {variable} is not used' for variable in job.get('variables', {})
            if not re.search(r'\$\{?' + variable + r'\b', script)]
    return problems


def steps_of(value):
    """All mappings with the key `uses` in a piece of a workflow."""
    if isinstance(value, dict):
        found = [value] if 'uses' in value else []
        return found + [step for inner in value.values() for step in steps_of(inner)]
    return [step for inner in value for step in steps_of(inner)] if isinstance(value, list) else []


def check_page(page, action, gitlab, file='page'):
    problems = []
    inputs = action['inputs']
    for number, block in enumerate(re.findall(r'```ya?ml\n(.*?)```', page, re.S), 1):
        where = f'{file}: example {number}'
        try:
            value = yaml.safe_load(block)
        except yaml.YAMLError as error:
            problems.append(f'{where}: {error}'.replace('\n', ' '))
            continue
        for step in steps_of(value):
            if '/ci' not in step['uses']:
                continue
            given = step.get('with', {})
            problems += [f'{where}: no input {name}' for name in given if name not in inputs]
            problems += [
                f'{where}: the input {name} is missing' for name, input in inputs.items()
                if input.get('required') and name not in given]
        if not isinstance(value, dict):
            continue
        for name, job in value.items():
            if not isinstance(job, dict) or name in ('jobs', 'on', True):
                continue
            template = gitlab.get(job.get('extends'), {})
            if 'extends' in job and not template:
                problems.append(f'{where}: {name}: no {job["extends"]} in {GITLAB}')
            problems += check_job(f'{where}: {name}', job, needs_script=not template)
            problems += [
                f'{where}: {name}: no variable {variable}' for variable in job.get('variables', {})
                if template and variable not in template['variables']]
    return problems


GOOD = """
name: a
description: b
inputs: {one: {description: c, default: ""}}
outputs: {two: {description: d, value: "${{ steps.s.outputs.two }}"}}
runs:
  using: composite
  steps: [{id: s, shell: bash, env: {ONE: "${{ inputs.one }}"}, run: 'echo "two=$ONE"'}]
"""
JOB_OK = '.a: {variables: {B: ""}, script: ["echo $B"]}'


def test():
    action, gitlab = yaml.safe_load(GOOD), yaml.safe_load(JOB_OK)
    page = '```yaml\n- uses: x/ci@main\n  with: {one: "1"}\n```\n```yaml\nj: {extends: .a}\n```\n'
    self_test('check-ci', [
        ('good', check_action(GOOD) + check_gitlab(JOB_OK) + check_page(page, action, gitlab), []),
        ('no yaml', check_action('a: [') + check_gitlab('a: ['), [ACTION, GITLAB]),
        ('not composite', check_action(GOOD.replace('composite', 'docker')), ['runs.using']),
        ('misspelled', check_action(GOOD.replace('shell:', 'shel:')), ['unknown key', 'shell is missing']),
        ('an expression in the script', check_action(GOOD.replace('=$ONE', '=${{ inputs.one }}$ONE')),
         ['an expression in a script']),
        ('no such input', check_action(GOOD.replace('inputs.one', 'inputs.on')),
         ['input on is not there', 'input one is not used']),
        ('no such output', check_action(GOOD.replace('outputs.two', 'outputs.too')),
         ['no step writes it']),
        ('no shell', check_action(GOOD.replace('echo "two', 'if "two')), ['bash', 'no step writes']),
        ('no default', check_action(GOOD.replace(', default: ""', '')), ['either required']),
        ('a job that runs', check_gitlab(JOB_OK[1:]), ['begin it with a dot']),
        ('unused, no text, no list', check_gitlab('.a: {variables: {B: 1}, script: echo}'),
         ['B is no text', 'no list', 'B is not used']),
        ('lost report', check_gitlab('.a: {script: [a], artifacts: {reports: {junit: x}}}'),
         ['only of jobs that pass']),
        ('wrong page', check_page(
            page.replace('one:', 'onne:').replace('.a', '.b'), action, gitlab),
         ['no input onne', 'no .b', 'script is missing']),
    ])


if __name__ == '__main__':
    if '--self-test' in sys.argv:
        test()
    action, gitlab = read(ACTION), read(GITLAB)
    found = check_action(action) + check_gitlab(gitlab)
    if not found:
        parsed = yaml.safe_load(action), yaml.safe_load(gitlab)
        found = [line for page in PAGES for line in check_page(read(page), *parsed, page)]
    finish('check-ci', found)
