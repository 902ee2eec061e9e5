// SPDX-License-Identifier: BSD-2-Clause-Patent
// Rate-distortion curves: the mean score of each encode over its bit rate, a curve for each ladder.

let ladderGraph = null;

/** [kbit/s, mean of ladder 0 or null, ...], ascending. */
function ladderRows() {
  const rows = index.ladders.flatMap((ladder, k) => ladder.encodes.flatMap((number) => {
    const encode = index.encodes[number], mean = encode.means[view.score];
    if (!encode.kbits || typeof mean !== "number") return [];
    return [[encode.kbits, ...index.ladders.map((_, i) => (i === k ? mean : null))]];
  }));
  return rows.sort((a, b) => a[0] - b[0]);
}

function setShown(isShown) {
  for (const id of ["ladder-plot", "ladder-text", "ladder-legend"]) document.getElementById(id).hidden = !isShown;
}

function drawLadder() {
  const rows = ladderRows(), holder = document.getElementById("ladder-plot");
  if (!holder) return;
  if (ladderGraph) ladderGraph.destroy();
  ladderGraph = null;
  holder.replaceChildren();
  setShown(rows.length > 1);
  if (rows.length < 2) return;
  document.getElementById("ladder-text").textContent = `Mean ${view.score} over bit rate, on a logarithmic scale`;
  const low = rows[0][0], high = rows[rows.length - 1][0];
  ladderGraph = plotIn(holder, rows, {
    ...commonOptions(index.ladders.map((_, i) => `l${i}`), index.ladders), drawPoints: true, pointSize: 4, connectSeparatedPoints: true,
    xlabel: "kbit/s", ylabel: `mean ${view.score}`, dateWindow: [low / 1.1, high * 1.1],
    axes: { x: { logscale: true, axisLabelWidth: 64, axisLabelFormatter: (x) => (x >= 1 ? x.toFixed(0) : String(x)) }, y: { axisLabelWidth: 56 } },
  });
  addCrosshair(holder, ladderGraph, () => {}, () => {});
}

function startLadder() {
  index.ladders.forEach((ladder) => {
    const item = document.createElement("li"), name = document.createElement("span");
    name.textContent = ladder.name;
    item.append(lineSample(ladder), name);
    const legend = document.getElementById("ladder-legend");
    if (legend) legend.append(item);
  });
  redraws.push(drawLadder);
  drawLadder();
}
