// Reads histograms, one in base64 a line, and prints of each what hdr-histogram-js sees. The module
// is looked up in NODE_PATH.
const { decodeFromCompressedBase64 } = require("hdr-histogram-js");
const lines = require("fs").readFileSync(0, "utf8").trim().split("\n");

const PERCENTILES = [50, 90, 95, 99, 99.9];

for (const line of lines) {
  // "packed" takes counts above 2^32.
  const histogram = decodeFromCompressedBase64(line, "packed");
  const samples = [];
  for (let i = 0; i < histogram.countsArrayLength; i++) {
    const count = histogram.getCountAtIndex(i);
    if (count > 0) {
      samples.push([histogram.highestEquivalentValue(histogram.valueFromIndex(i)), count]);
    }
  }
  console.log(JSON.stringify({
    count: histogram.totalCount,
    // Its minNonZeroValue leaves out what is below the lowest unit; its maxValue is a unit too large.
    min: histogram.getValueAtPercentile(0),
    max: histogram.getValueAtPercentile(100),
    percentiles: PERCENTILES.map((p) => histogram.getValueAtPercentile(p)),
    samples,
  }));
}
