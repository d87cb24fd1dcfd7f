"""What clients of a server in several pods lose when they end, with the usual manifest and with better ones.

The load is that of workloads/rolling-restart.toml: a hundred clients behind the Service, which publish
20 messages a second to everyone and come back when their connection ends. Each case prints a table of
what became of the deliveries. Counts depend on the moment, so the cases only demand what must hold
at any moment.
"""

import functools
import json
import os
import shutil
import tempfile
import time
from pathlib import Path

from . import images
from .cluster import MANIFESTS, NAMESPACE, ROOT, SERVER, ended, kubectl, need, pods, until, within

# Pods that ignore SIGTERM are killed 30 s after it, and must be gone before the load ends.
WATCHED = os.environ.get("WATCHED", "60s")
# Above this median, in nanoseconds, deliveries are late because the machine is busy.
BUSY = 100_000_000
USUAL, DRAINING, HOLDING = "usual", "draining", "holding"
# A program without a handler ignores SIGTERM where it is process 1 of a container. Here it is not process
# 1, as with an `init`.
OBEYING = f"""
patches:
  - target: {{kind: Deployment, name: {SERVER}}}
    patch: '[{{"op": "add", "path": "/spec/template/spec/shareProcessNamespace", "value": true}}]'
"""
LOST = ["lost_away", "lost_cut", "lost_joining", "lost_silent"]


class Manifest:
    """An overlay of the server's manifests, with further components and patches."""

    def __init__(self, name, overlay, components=(), patches=""):
        self.name, self.overlay, self.components, self.patches = name, overlay, components, patches

    def text(self, server, redis):
        lines = [f"namespace: {NAMESPACE}", f"resources: [namespace.yaml, server/{self.overlay}]"]
        if self.components:
            lines.append("components:")
            lines += [f"  - server/components/{name}" for name in self.components]
        lines.append("images:")
        for old, new in ((f"registry.example/{SERVER}", server), ("docker.io/library/redis", redis)):
            name, _, tag = new.rpartition(":")
            lines.append(f'  - {{name: {old}, newName: {name}, newTag: "{tag}"}}')
        return "\n".join(lines) + self.patches


WHOLE = [Manifest(name, name) for name in (USUAL, DRAINING, HOLDING)]
PARTS = [
    Manifest("usual, SIGTERM ends the server", USUAL, (), OBEYING),
    Manifest("the same with preStop", USUAL, ["pre-stop"], OBEYING),
    Manifest("usual with --drain", USUAL, ["drain"]),
    Manifest("usual with preStop and --drain", USUAL, ["pre-stop", "drain"]),
]


class Bench:
    """The server in the cluster, and a generator that loads it."""

    def __init__(self, manifest, image, server, redis):
        self.folder = Path(tempfile.mkdtemp(prefix="websocket-bench-"))
        shutil.copytree(MANIFESTS, self.folder / "server")
        shutil.copy(ROOT / "deploy/kubernetes/namespace.yaml", self.folder)
        (self.folder / "kustomization.yaml").write_text(manifest.text(server, redis))
        self.image = image

    def __enter__(self):
        kubectl("apply", "-k", self.folder)
        for name in ("redis", SERVER):
            within("rollout", "status", f"deployment/{name}", "--timeout=180s")
        until("only new pods are there", 60, lambda: len(pods(SERVER)) == 3)
        return self

    def __exit__(self, *_):
        kubectl("delete", "-k", self.folder, "--wait=false", check=False)
        within("delete", "pods", "--all", "--grace-period=1", "--wait=false", check=False)
        kubectl("wait", "--for=delete", f"namespace/{NAMESPACE}", "--timeout=120s", check=False)
        shutil.rmtree(self.folder)

    def begin(self):
        """Returns when the first message is due."""
        plan = "rolling-restart.toml"
        within("create", "configmap", "plan", f"--from-file={ROOT / 'workloads' / plan}")
        arguments = ["run", f"/plan/{plan}", f"ws://{SERVER}:3334/", "--events", "-",
                     "--set", f"load.watch.duration={WATCHED}"]
        generator = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "generator", "labels": {"app": "generator"}},
            "spec": {
                "restartPolicy": "Never",
                "containers": [{"name": "generator", "image": self.image, "args": arguments,
                                "volumeMounts": [{"name": "plan", "mountPath": "/plan"}]}],
                "volumes": [{"name": "plan", "configMap": {"name": "plan"}}],
            },
        }
        within("apply", "-f", "-", text=json.dumps(generator))
        until("clients publish", 120, lambda: self.events("watching"))

    def events(self, kind):
        log = within("logs", "generator", check=False).splitlines()
        events = [json.loads(line) for line in log if line.startswith("{") and line.endswith("}")]
        return [event for event in events if event["event"] == kind]

    def end(self):
        """The record of the only step."""
        [code] = until("the generator ends", 180, lambda: ended("generator"))
        need(code == 0, f"the generator: exit {code}\n{within('logs', 'generator')[-2000:]}")
        # The log may be behind the end of its container.
        [step] = until("the record is in the log", 30, lambda: self.events("step"))
        return step["record"]


def rolling_update(server):
    within("rollout", "restart", f"deployment/{SERVER}")
    return server


def killed_pod(server):
    killed = server[0]
    within("delete", "pod", killed["metadata"]["name"], "--force", "--grace-period=0", "--wait=false")
    return [killed]


def drained_machine(server):
    """Of several machines the one with most pods of the server; of one its pods, without cordoning it."""
    place = lambda pod: pod["spec"]["nodeName"]
    machines = [place(pod) for pod in server]
    machine = max(set(machines), key=machines.count)
    there = [pod for pod in server if place(pod) == machine]
    if len(schedulable()) > 1:
        kubectl("drain", machine, "--ignore-daemonsets", "--delete-emptydir-data",
                f"--pod-selector=app={SERVER}", "--timeout=180s")
    else:
        for pod in there:
            until("an eviction is allowed", 120, lambda: evicted(pod["metadata"]["name"]))
    return there


def schedulable():
    machines = json.loads(kubectl("get", "nodes", "-o", "json"))["items"]
    return [machine for machine in machines if not machine["spec"].get("unschedulable")]


def evicted(name):
    """Whether the budget allowed it; as `kubectl drain` asks."""
    wish = {"apiVersion": "policy/v1", "kind": "Eviction",
            "metadata": {"name": name, "namespace": NAMESPACE}}
    path = f"/api/v1/namespaces/{NAMESPACE}/pods/{name}/eviction"
    return kubectl("create", "--raw", path, "-f", "-", text=json.dumps(wish), check=False)


def measured(manifest, event, image, of_server):
    with Bench(manifest, image, *of_server) as bench:
        server = pods(SERVER)
        bench.begin()
        time.sleep(3)
        try:
            going = {pod["metadata"]["uid"] for pod in event(server)}
            there = lambda: {pod["metadata"]["uid"] for pod in pods(SERVER)}
            until("the pods are gone", 180, lambda: not there() & going)
            need(ended("generator") is None,
                 f"the load was over before the last pod was gone; set WATCHED, which is {WATCHED}")
            within("rollout", "status", f"deployment/{SERVER}", "--timeout=180s")
            need(len(there() - going) == 3, "there are not three pods afterwards")
        finally:
            for machine in {pod["spec"]["nodeName"] for pod in server} if event is drained_machine else ():
                kubectl("uncordon", machine)
        return Result(manifest, bench.end())


class Result:
    """What became of the deliveries of one run."""

    def __init__(self, manifest, step):
        watched = step["watched"]
        parts = [watched["of_confirmed"], watched["of_unconfirmed"]]
        self.name, self.step = manifest.name, step
        self.fates = {fate: sum(part[fate] for part in parts) for fate in (*LOST, "made_good")}
        self.lost = sum(self.fates[fate] for fate in LOST)
        self.ended = {}
        for cause in (step["drops"] or {"causes": []})["causes"]:
            code = cause["code"] or "none"
            self.ended[code] = self.ended.get(code, 0) + cause["count"]
        self.is_late = watched["same_node"]["p50_ns"] > BUSY

    def line(self):
        watched = self.step["watched"]
        ends = ", ".join(f"{count} ({code})" for code, count in sorted(self.ended.items(), key=str))
        slowest = max(watched["timeline"]["slowest_ns"]) / 1e9
        cells = [self.name, ends, *(self.fates[fate] for fate in LOST), self.lost, self.fates["made_good"],
                 watched["repeated"], f"{watched['confirmed']} of {watched['sent']}", f"{slowest:.2f}"]
        return "| " + " | ".join(map(str, cells)) + " |"


HEAD = """
| manifest | connections ended (close code) | lost while away | with the connection | joining | in silence | \
lost | made good | repeated | confirmed | slowest, s |
|---|---|---|---|---|---|---|---|---|---|---|"""


@functools.cache
def server_images():
    """Those of the server and of Redis; `None` where there are none."""
    need(MANIFESTS, f"there is no servers/{os.environ.get('SERVER', '*')}/kubernetes")
    given = os.environ.get("SERVER_IMAGE"), os.environ.get("REDIS_IMAGE")
    if all(given):
        return given
    sockets = os.environ.get("CONTAINERD")
    return images.imported(sockets.split(":")) if sockets else None


def table(event, manifests, image):
    of_server = server_images()
    if not of_server:
        return "skipped: neither SERVER_IMAGE and REDIS_IMAGE nor CONTAINERD is set"
    print(HEAD, flush=True)
    results = {}
    for manifest in manifests:
        result = measured(manifest, event, image, of_server)
        print(result.line(), flush=True)
        results[manifest.name] = result
    return judged(results, event)


def judged(results, event):
    usual, draining, holding = (results[name] for name in (USUAL, DRAINING, HOLDING))
    for result in results.values():
        need(result.ended, f"{result.name}: no connection ended")
        need(not result.step["watched"]["duplicate"], f"{result.name}: duplicates on one connection")
    if event is not killed_pod:
        for result in (draining, holding):
            need(set(result.ended) == {1001}, f"{result.name}: ended with {result.ended}")
    late = [result.name for result in (usual, draining, holding) if result.is_late]
    if late:
        return f"not judged, since the machine was busy: half of the deliveries were late ({', '.join(late)})"
    for result in (draining, holding):
        need(not result.fates["lost_silent"], f"{result.name}: lost in silence")
    if event is not killed_pod:
        need(holding.lost < usual.lost, f"holding loses {holding.lost}, usual {usual.lost}")
    return f"holding loses {holding.lost} of {holding.step['watched']['sent'] * holding.step['clients']}"


def a_rolling_update(image, _):
    return table(rolling_update, [WHOLE[0], *PARTS, *WHOLE[1:]], image)


def a_killed_pod(image, _):
    return table(killed_pod, WHOLE, image)


def a_drained_machine(image, _):
    return table(drained_machine, WHOLE, image)
