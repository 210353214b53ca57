"""Checks exported verdicts by the tools that their readers use.

usage: validate_export.py FORMAT FILE [SCHEMA]

FORMAT is junit (SCHEMA is the XSD; xmllint and junitparser), gitlab (python3-jsonschema), tap, github,
or json (SCHEMA is a JSON Schema). Prints one line per violation; one that is missing ends it with an error
(`make setup` installs all).
"""
import json
import re
import subprocess
import sys

GITLAB = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "additionalProperties": False,
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "pattern": "^perfwatch/[A-Za-z.]+$"},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{16}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "additionalProperties": False,
                "properties": {
                    "path": {"type": "string", "pattern": "^[^/]"},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
    },
}
COMMAND = re.compile(
    r"^::(error|warning) (file=[^:,\n]+,line=[1-9][0-9]*,)?title=[^:,\n]+::[^\n]+$")


def junit(path, schema):
    done = subprocess.run(
        ["xmllint", "--noout", "--nonet", "--schema", schema, path], capture_output=True, text=True)
    if done.returncode != 0:
        yield done.stderr.strip()
    from junitparser import JUnitXml
    read = JUnitXml.fromfile(path)
    suites = list(read)
    if len(suites) != 1 or suites[0].tests != len(list(suites[0])):
        yield f"junitparser sees {len(suites)} suites and other tests than are counted"


def by_schema(value, schema):
    from jsonschema import Draft202012Validator
    for error in Draft202012Validator(schema).iter_errors(value):
        yield f"{'/'.join(map(str, error.path))}: {error.message}"


def gitlab(path):
    with open(path) as file:
        value = json.load(file)
    yield from by_schema(value, GITLAB)
    prints = [issue["fingerprint"] for issue in value]
    if len(set(prints)) != len(prints):
        yield "two issues have one fingerprint"


def tap(path):
    with open(path) as file:
        lines = file.read().splitlines()
    if lines[0] != "TAP version 13":
        yield f"version: {lines[0]}"
    plan = int(re.match(r"1\.\.([0-9]+)", lines[1]).group(1))
    numbers = [
        int(match.group(2)) for line in lines[2:]
        if (match := re.match(r"(not )?ok ([0-9]+) - \S", line))]
    if numbers != list(range(1, plan + 1)):
        yield f"plan {plan}, tests {numbers}"
    for line in lines[2:]:
        if line.startswith("  ") or re.match(r"(not )?ok [0-9]+ - ", line):
            continue
        yield f"odd line: {line}"


def github(path):
    with open(path) as file:
        for line in file.read().splitlines():
            if not COMMAND.match(line):
                yield f"no workflow command: {line}"


def main(kind, path, schema=None):
    if kind == "junit":
        found = junit(path, schema)
    elif kind == "json":
        with open(path) as file, open(schema) as rules:
            found = by_schema(json.load(file), json.load(rules))
    else:
        found = {"gitlab": gitlab, "tap": tap, "github": github}[kind](path)
    violations = list(found)
    for violation in violations:
        print(violation)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
