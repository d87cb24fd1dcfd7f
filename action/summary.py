"""Writes the job summary of a run, and holds its percentiles against those of a record from before.

usage: summary.py RECORD BASELINE TOLERANCE CODE LOG

BASELINE is a file, or empty; one that is not there is no baseline. Exits with CODE, the exit code of
websocket-bench, if that is not 0; else with 2 when a percentile is longer than in the baseline by more
than TOLERANCE percent; else with 0. One run of each side shows large differences only: `shootout
compare` over repetitions says more.
"""

import json
import os
import sys
from pathlib import Path

LATENCIES = ("completion", "delivery", "ack")
FIGURES = ("p50_ns", "p95_ns", "p99_ns")


def time(ns):
    if ns < 1e6:
        return f"{ns / 1e3:.0f} us"
    return f"{ns / 1e6:.1f} ms" if ns < 1e9 else f"{ns / 1e9:.2f} s"


def latencies(step):
    return {name: step[name] for name in LATENCIES if step.get(name)}


def parts_that_count(plan):
    """A plan without what decides nothing of a step: where the server is, random choices, threads."""
    return {key: value for key, value in plan.items() if key not in ("target", "generator", "name", "reason")}


def rows(record, baseline, tolerance):
    """Lines of the table, and what is longer than it may be."""
    before = {step["clients"]: step for step in baseline["steps"]} if baseline else {}
    lines, longer = [], []
    for step in record["steps"]:
        old = latencies(before.get(step["clients"], {}))
        for name, latency in latencies(step).items():
            cells = [str(step["clients"]), name]
            for figure in FIGURES:
                cell = time(latency[figure])
                if name in old:
                    change = (latency[figure] / max(old[name][figure], 1) - 1) * 100
                    cell += f" ({change:+.0f} %)"
                    if change > tolerance:
                        longer.append(f"{name} {figure[:-3]} at {step['clients']} clients: {change:+.0f} %")
                cells.append(cell)
            faults = sum(step["faults"].values())
            lines.append(f"| {' | '.join(cells)} | {step['verdict']} | {faults} |")
    return lines, longer


def read(path):
    return json.loads(Path(path).read_text())


def main(record_path, baseline_path, tolerance, code, log):
    text = ["## websocket-bench", ""]
    longer = []
    if Path(record_path).is_file():
        record = read(record_path)
        baseline = read(baseline_path) if baseline_path and Path(baseline_path).is_file() else None
        if baseline and parts_that_count(record["plan"]) != parts_that_count(baseline["plan"]):
            text += ["The baseline was made by another plan, so that nothing is compared.", ""]
            baseline = None
        lines, longer = rows(record, baseline, float(tolerance))
        text += ["| clients | latency | p50 | p95 | p99 | verdict | faults |", "|---|---|---|---|---|---|---|"]
        text += lines + ["", f"Ended: {record['outcome']['detail'].replace('|', ' ')}", ""]
        if baseline:
            words = "; ".join(longer) or "none"
            text += [f"Longer than before by more than {tolerance} %: {words}", ""]
    else:
        text += ["There is no record: nothing was measured.", ""]
    if Path(log).is_file():
        # A fence that no line of the log closes.
        text += ["<details><summary>Output</summary>", "", "``````", Path(log).read_text()[-20_000:].replace("``````", ""),
                 "``````", "", "</details>", ""]
    with open(os.environ["GITHUB_STEP_SUMMARY"], "a") as summary:
        summary.write("\n".join(text))
    for words in longer:
        print(f"::error::longer than before: {words}")
    if int(code):
        print(f"::error::websocket-bench ended with {code}")
        return int(code)
    return 2 if longer else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:6]))
