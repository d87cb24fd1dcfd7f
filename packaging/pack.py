"""Packs what scripts/dist has built: archive, wheel, npm package and checksums, into dist/.

Names, times and owners in the archives are those of the commit, so that two builds of it agree.
"""

import gzip
import hashlib
import io
import json
import os
import platform
import shutil
import subprocess
import tarfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
BUILT = ROOT / "target/dist"
PROGRAM = ROOT / "target/static/websocket-bench"
TIME = int(os.environ["SOURCE_DATE_EPOCH"])
MACHINE = platform.machine()
# A static program runs with either C library, and with none.
WHEEL_TAG = f"py3-none-manylinux_2_17_{MACHINE}.musllinux_1_1_{MACHINE}"
NPM_CPU = {"x86_64": "x64", "aarch64": "arm64"}[MACHINE]
SHELLS = {"bash": "websocket-bench.bash", "zsh": "_websocket-bench", "fish": "websocket-bench.fish"}


def manifest():
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    crate = tomllib.loads((ROOT / "crates/websocket-bench/Cargo.toml").read_text())["package"]
    return workspace["version"], crate["description"], workspace["license"]


def call(*command, **options):
    subprocess.run([str(word) for word in command], check=True, **options)


def copy(source, target, mode=0o644):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(mode)


def archive(version):
    """The program with its manual, completions, plans, licences and list of parts."""
    name = f"websocket-bench-{version}-{MACHINE}-linux"
    stage = BUILT / name
    shutil.rmtree(stage, ignore_errors=True)
    copy(PROGRAM, stage / "websocket-bench", 0o755)
    for file in ("LICENSE", "CHANGELOG.md"):
        copy(ROOT / file, stage / file)
    copy(ROOT / "packaging/README.md", stage / "README.md")
    for file in ("THIRD-PARTY-LICENSES.yaml", "sbom.cdx.json"):
        copy(BUILT / file, stage / file)
    (stage / "man").mkdir()
    call(PROGRAM, "man", stage / "man", stdout=subprocess.DEVNULL)
    for shell, file in SHELLS.items():
        path = stage / "completions" / file
        path.parent.mkdir(exist_ok=True)
        with path.open("wb") as out:
            call(PROGRAM, "completions", shell, stdout=out)
    for plan in sorted((ROOT / "workloads").glob("*.toml")):
        copy(plan, stage / "workloads" / plan.name)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(stage.rglob("*")):
            if not path.is_file():
                continue
            entry = tarfile.TarInfo(f"{name}/{path.relative_to(stage)}")
            entry.size = path.stat().st_size
            entry.mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
            entry.mtime = TIME
            with path.open("rb") as file:
                tar.addfile(entry, file)
    target = DIST / f"{name}.tar.gz"
    target.write_bytes(gzip.compress(packed.getvalue(), mtime=0))
    return target


def wheel(version, description, license):
    """A wheel with the program as a script: for `pip install` and `uvx`."""
    stage = BUILT / "wheel"
    shutil.rmtree(stage, ignore_errors=True)
    copy(PROGRAM, stage / f"websocket_bench-{version}.data/scripts/websocket-bench", 0o755)
    info = stage / f"websocket_bench-{version}.dist-info"
    readme = (ROOT / "packaging/README.md").read_text()
    copy(ROOT / "LICENSE", info / "licenses/LICENSE")
    copy(BUILT / "THIRD-PARTY-LICENSES.yaml", info / "licenses/THIRD-PARTY-LICENSES.yaml")
    copy(BUILT / "sbom.cdx.json", info / "sboms/websocket-bench.cdx.json")
    (info / "METADATA").write_text(
        "Metadata-Version: 2.4\nName: websocket-bench\n"
        f"Version: {version}\nSummary: {description}\nLicense-Expression: {license}\n"
        "License-File: LICENSE\nLicense-File: THIRD-PARTY-LICENSES.yaml\n"
        "Classifier: Operating System :: POSIX :: Linux\n"
        f"Description-Content-Type: text/markdown\n\n{readme}"
    )
    tags = "".join(
        f"Tag: py3-none-{place}\n" for place in WHEEL_TAG.removeprefix("py3-none-").split(".")
    )
    (info / "WHEEL").write_text(
        f"Wheel-Version: 1.0\nGenerator: pack.py\nRoot-Is-Purelib: false\n{tags}"
    )
    call("wheel", "pack", stage, "--dest-dir", DIST, stdout=subprocess.DEVNULL)
    return DIST / f"websocket_bench-{version}-{WHEEL_TAG}.whl"


def npm(version, description, license):
    """A package with the program as its command: for `npx` and `npm install`."""
    stage = BUILT / "npm"
    shutil.rmtree(stage, ignore_errors=True)
    copy(PROGRAM, stage / "bin/websocket-bench", 0o755)
    for file in ("LICENSE",):
        copy(ROOT / file, stage / file)
    copy(ROOT / "packaging/README.md", stage / "README.md")
    copy(BUILT / "THIRD-PARTY-LICENSES.yaml", stage / "THIRD-PARTY-LICENSES.yaml")
    package = {
        "name": "websocket-bench",
        "version": version,
        "description": description,
        "license": license,
        "bin": {"websocket-bench": "bin/websocket-bench"},
        "os": ["linux"],
        "cpu": [NPM_CPU],
        "files": ["bin", "LICENSE", "THIRD-PARTY-LICENSES.yaml", "README.md"],
    }
    # npm compares it with the repository that a package's provenance names.
    if repository := os.environ.get("GITHUB_REPOSITORY"):
        package["repository"] = {"type": "git", "url": f"git+https://github.com/{repository}.git"}
    (stage / "package.json").write_text(json.dumps(package, indent=2) + "\n")
    call("npm", "pack", "--silent", "--pack-destination", DIST, cwd=stage, stdout=subprocess.DEVNULL)
    return DIST / f"websocket-bench-{version}.tgz"


def main():
    version, description, license = manifest()
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    made = [
        archive(version),
        wheel(version, description, license),
        npm(version, description, license),
    ]
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in made]
    (DIST / "SHA256SUMS").write_text("".join(sums))
    for path in made:
        print(f"dist/{path.name}: {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
