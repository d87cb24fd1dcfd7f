"""Images of the server and of Redis from this machine's programs, for a cluster that can pull none.

Each holds a program and the libraries that `ldd` names, and is imported into the containerd of each of the
given sockets. What the server's image has beside its program stands in the Containerfile of its manifests.
"""

import json
import re
import shutil
import tempfile
from pathlib import Path

from .cluster import MANIFESTS, SERVER, need, run

IMAGE = f"localhost/{SERVER}:test"
REDIS = "localhost/redis:test"


def imported(sockets):
    """Builds both, and imports them; their names."""
    with tempfile.TemporaryDirectory(prefix="websocket-bench-") as folder:
        here = Path(folder)
        server = here / "server"
        [entry] = map(json.loads, instructions("ENTRYPOINT"))
        srv = server / "srv"
        tracked = run("git", "-C", MANIFESTS.parent, "ls-files").stdout.split()
        for file in tracked:
            (srv / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(MANIFESTS.parent / file, srv / file)
        for command in instructions("RUN"):
            run("sh", "-c", f"cd '{srv}' && {command}", timeout=600)
        image(server, IMAGE, program(server, entry[0]) + entry[1:], sockets)
        redis = here / "redis"
        # The official image lets other hosts in without a password, too.
        entry = program(redis, "redis-server") + ["--protected-mode", "no"]
        (redis / "srv").mkdir()
        image(redis, REDIS, entry, sockets)
    return IMAGE, REDIS


def instructions(name):
    """What stands behind an instruction of the server's Containerfile, line by line."""
    lines = (MANIFESTS / "Containerfile").read_text().splitlines()
    return [line.removeprefix(f"{name} ") for line in lines if line.startswith(f"{name} ")]


def program(root, name):
    """Copies a program to where it is on this machine, below a root; the start of its command line."""
    path = shutil.which(name)
    need(path, f"{name} is not installed; set SERVER_IMAGE and REDIS_IMAGE to use images of your own")
    # A copy below this very name: `redis-server` may be a link to a program that looks at its name.
    for file in [path, *re.findall(r"(/\S+) \(0x", run("ldd", path).stdout)]:
        copy = root / file.lstrip("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copy)
    return [path]


def image(root, name, entry, sockets):
    words = ", ".join(f'"{word}"' for word in entry)
    (root / "Containerfile").write_text(f"FROM scratch\nCOPY . /\nWORKDIR /srv\nENTRYPOINT [{words}]\n")
    (root / ".containerignore").write_text("Containerfile\n.containerignore\n")
    run("podman", "build", "--quiet", "--tag", name, root, timeout=600)
    archive = root.parent / "image.tar"
    run("podman", "save", "--output", archive, name, timeout=600)
    for socket in sockets:
        run("ctr", "--address", socket, "--namespace", "k8s.io", "images", "import", archive, timeout=600)
    archive.unlink()
    run("podman", "rmi", name)
