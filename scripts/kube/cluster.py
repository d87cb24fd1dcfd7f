"""What the cases of test-kubernetes share: kubectl, waiting, and reading what a run has left."""

import json
import os
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
NAMESPACE = "websocket-bench"
# The manifests of the server whose pods end, servers/NAME/kubernetes: the only one, or that of SERVER.
# Its Service, Deployment, labels and image are named after its folder.
MANIFESTS = next(ROOT.glob(f"servers/{os.environ.get('SERVER', '*')}/kubernetes"), None)
SERVER = MANIFESTS and MANIFESTS.parent.name


class Broken(Exception):
    """What does not hold, in words."""


def need(holds, words):
    if not holds:
        raise Broken(words)


def run(*command, text=None, check=True, timeout=300):
    done = subprocess.run(
        [str(word) for word in command], input=text, capture_output=True, text=True, timeout=timeout
    )
    if check and done.returncode:
        raise Broken(f"{' '.join(map(str, command))}: exit {done.returncode}: {done.stderr.strip()}")
    return done


def kubectl(*arguments, **options):
    return run("kubectl", *arguments, **options).stdout


def within(*arguments, **options):
    return kubectl("-n", NAMESPACE, *arguments, **options)


def until(words, seconds, ask):
    """Asks each half second until there is an answer."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = ask()
        if answer:
            return answer
        time.sleep(0.5)
    state = within("get", "pods", "-o", "wide", check=False)
    raise Broken(f"{words}: not within {seconds} s\n{state}")


def pods(app):
    return json.loads(within("get", "pods", "-l", f"app={app}", "-o", "json"))["items"]


def ended(app):
    """Exit code of the only container of a pod, once it has ended."""
    for pod in pods(app):
        for status in pod["status"].get("containerStatuses", []):
            if "terminated" in status["state"]:
                return [status["state"]["terminated"]["exitCode"]]
    return None
