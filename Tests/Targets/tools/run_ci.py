"""Runs what ci/ offers as GitHub and GitLab would.

usage: run_ci.py github ACTION.YML NAME=VALUE...     the action with these inputs
       run_ci.py gitlab GITLAB.YML NAME=VALUE...     the script of .perfwatch with these variables

In the working folder, with the environment of this process and that of the service. GITHUB_OUTPUT and
GITHUB_STEP_SUMMARY are the files github-output and github-summary there, unless they are set. Ends as the
last step did.
"""
import os
import re
import subprocess
import sys

import yaml


def given(words):
    return dict(word.split("=", 1) for word in words)


def github(file, inputs):
    action = yaml.safe_load(open(file))
    values = {}
    for name, input in action["inputs"].items():
        if input.get("required") and name not in inputs:
            sys.exit(f"run_ci: the input {name} is required")
        values[name] = inputs.pop(name, input.get("default", ""))
    if inputs:
        sys.exit(f"run_ci: no inputs: {', '.join(inputs)}")

    def filled(text):
        return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: values[found[1]], text)

    base = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": os.getcwd(),
            "GITHUB_OUTPUT": os.path.abspath("github-output"),
            "GITHUB_STEP_SUMMARY": os.path.abspath("github-summary")}
    base.update(os.environ)
    for step in action["runs"]["steps"]:
        env = base | {name: filled(value) for name, value in step.get("env", {}).items()}
        # As the runner calls the shell `bash`.
        words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(words, env=env, cwd=filled(step.get("working-directory", ".")), check=False)
        if done.returncode:
            return done.returncode
    return 0


def gitlab(file, variables):
    job = yaml.safe_load(open(file))[".perfwatch"]
    env = os.environ | {"GITLAB_CI": "true", "CI_PROJECT_DIR": os.getcwd()}
    env |= job["variables"] | variables
    return subprocess.run(["sh", "-e", "-c", "\n".join(job["script"])], env=env, check=False).returncode


if __name__ == "__main__":
    service, path, *rest = sys.argv[1:]
    code = {"github": github, "gitlab": gitlab}[service](path, given(rest))
    sys.exit(code if code >= 0 else 128 - code)
