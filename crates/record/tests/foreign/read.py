"""Reads histograms, one in base64 a line, and prints of each what HdrHistogram for Python sees."""

import json
import sys

from hdrh.histogram import HdrHistogram

PERCENTILES = [50, 90, 95, 99, 99.9]

for line in sys.stdin:
    histogram = HdrHistogram.decode(line.strip())
    print(json.dumps({
        "count": histogram.get_total_count(),
        "min": histogram.get_min_value(),
        "max": histogram.get_max_value(),
        "percentiles": [histogram.get_value_at_percentile(p) for p in PERCENTILES],
        "samples": [
            [item.value_iterated_to, item.count_at_value_iterated_to]
            for item in histogram.get_recorded_iterator()
        ],
    }))
