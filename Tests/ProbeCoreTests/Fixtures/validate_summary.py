"""Checks summaries against their JSON Schema, and the schema against a summary.

usage: validate_summary.py check|strict|order SCHEMA SUMMARIES

SUMMARIES holds one summary a line.

check: prints one line per violation: number of the summary from 0, place, message.
strict: damages the summary in every way that a schema should notice (a key missing, a value of
        another type) and prints the damages that the schema let pass.
order: prints the keys of every object in the order of the file, one line per kind of object.
"""
import copy
import json
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("python3-jsonschema is missing: run `make setup`")
    sys.exit(3)

# Objects whose keys are data.
MAPS = ("metrics", "observer.capabilities",
        "repeats.runs[].metrics", "repeats.runs[].observer.capabilities",
        "programs[].runs[].labels")


def places(value, path=""):
    """Every value inside, as (owner, path of the owner, key)."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield value, path, key
            yield from places(inner, join(path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield value, path, index
            yield from places(inner, join(path, index))


def join(path, key):
    return path + "[]" if isinstance(key, int) else f"{path}.{key}".lstrip(".")


def damages(summary):
    """(description, damaged summary) for every damage."""
    count = sum(1 for _ in places(summary))
    for number in range(count):
        for how in ("missing", "wrong type"):
            damaged = copy.deepcopy(summary)
            owner, path, key = list(places(damaged))[number]
            if how == "wrong type":
                owner[key] = [] if not isinstance(owner[key], list) else {}
            elif isinstance(owner, list) or path in MAPS:
                continue
            else:
                del owner[key]
            yield f"{join(path, key)}: {how}", damaged


def main(mode, schema_path, summaries_path):
    with open(schema_path) as file:
        schema = json.load(file)
    with open(summaries_path) as file:
        summaries = [json.loads(line) for line in file]
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    for number, summary in enumerate(summaries):
        if mode == "check":
            for error in validator.iter_errors(summary):
                place = "/".join(map(str, error.absolute_path))
                print(f"{number} {place}: {error.message[:200]}")
        elif mode == "strict":
            for what, damaged in damages(summary):
                if validator.is_valid(damaged):
                    print(what)
        else:
            print_order(summary)


def print_order(summary):
    seen = set()
    print(": " + " ".join(summary))
    for owner, path, key in places(summary):
        value, place = owner[key], join(path, key)
        if isinstance(value, dict) and place not in MAPS and place not in seen:
            seen.add(place)
            print(f"{place}: " + " ".join(value))


main(*sys.argv[1:])
