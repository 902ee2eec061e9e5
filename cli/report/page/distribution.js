// SPDX-License-Identifier: BSD-2-Clause-Patent
// How many frames have which score.

const CUMULATIVE_STEPS = 300, HISTOGRAM_BINS = 40;
let distributionGraph = null;

function rangeOf(list) {
  let low = Infinity, high = -Infinity;
  for (const series of list)
    for (const value of series.mean) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  if (!(low <= high)) return [0, 1];
  return low < high ? [low, high] : [low - 0.5, high + 0.5];
}

/** Shares of frames in each of `count` equal bins, per cent. */
function sharesOf(series, [low, high], count) {
  const shares = new Float64Array(count);
  let frames = 0;
  for (const value of series.mean) {
    if (Number.isNaN(value)) continue;
    shares[Math.min(count - 1, Math.floor(((value - low) / (high - low)) * count))]++;
    frames++;
  }
  return shares.map((share) => (100 * share) / Math.max(1, frames));
}

function cumulated(shares) {
  let sum = 0;
  return shares.map((share) => (sum += share));
}

function distributionRows(list, isHistogram) {
  const range = rangeOf(list), count = isHistogram ? HISTOGRAM_BINS : CUMULATIVE_STEPS;
  const width = (range[1] - range[0]) / count;
  const columns = list.map((series) => sharesOf(series, range, count));
  const shown = isHistogram ? columns : columns.map(cumulated);
  const rows = Array.from({ length: count }, (_, k) => [range[0] + width * (isHistogram ? k : k + 1), ...shown.map((column) => column[k])]);
  // The last step needs an end, and a cumulative curve begins at nothing.
  if (isHistogram) rows.push([range[1], ...shown.map((column) => column[count - 1])]);
  else rows.unshift([range[0], ...shown.map(() => 0)]);
  return rows;
}

function drawDistribution() {
  const isHistogram = document.querySelector("input[name=distribution]:checked").value === "histogram";
  const encodes = shownEncodes(), holder = document.getElementById("distribution-plot");
  if (distributionGraph) distributionGraph.destroy();
  distributionGraph = null;
  holder.replaceChildren();
  document.getElementById("distribution-text").textContent = isHistogram
    ? `Per cent of frames by ${view.score}, in ${HISTOGRAM_BINS} bins` : `Per cent of frames with a ${view.score} up to the one below`;
  if (!encodes.length) return;
  distributionGraph = plotIn(holder, distributionRows(encodes.map((i) => seriesOf(i, view.score)), isHistogram), {
    ...commonOptions(encodes.map((i) => `e${i}`), encodes.map((i) => index.encodes[i])), stepPlot: isHistogram, fillGraph: isHistogram, includeZero: true,
    xlabel: view.score, axes: { x: { axisLabelWidth: 64 }, y: { axisLabelWidth: 56 } },
  });
  addCrosshair(holder, distributionGraph, () => {}, () => {});
}

function startDistribution() {
  document.querySelectorAll("input[name=distribution]").forEach((each) => each.addEventListener("change", drawDistribution));
  redraws.push(drawDistribution);
  drawDistribution();
}
