// SPDX-License-Identifier: BSD-2-Clause-Patent
// The bit rate below the scores, over the same frames, with a mark for each key frame.

const RATE_BINS = 300, MOST_MARKS = 400, MARK_PIXELS = 6;
let rateGraph = null;

function encodesWithRates() {
  return view.shown.flatMap((isShown, i) => (isShown && ratesOf(i) ? [i] : []));
}

/** Rows of kbit/s, a second or more each: single frames tell of nothing but their kind. */
function rateRows([low, high]) {
  const [first, end] = extent(), from = Math.max(first, Math.floor(low)), to = Math.min(end, Math.ceil(high) + 1);
  const width = Math.max(1, Math.round(index.encodes[0].rate) || 25, Math.ceil((to - from) / RATE_BINS));
  const begin = Math.max(first, Math.floor(from / width) * width), rows = [];
  const columns = encodesWithRates().map((encode) => ({ series: ratesOf(encode), frames: framesOf(encode) }));
  for (let at = begin; at < to; at += width)
    rows.push([at + (Math.min(width, end - at) - 1) / 2, ...columns.map(({ series, frames }) => {
      const place = (edge) => Math.floor(placeOf(frames, edge) / series.step);
      const found = summaryOf(series, place(at), Math.max(place(at + width), series.step > 1 ? place(at) + 1 : 0));
      return found ? found[1] * 1000 : null;
    })]);
  return rows;
}

function drawMarks(context, area, graph) {
  const [low, high] = graph.xAxisRange();
  encodesWithRates().forEach((encode, row) => {
    const keys = keysOf(encode), first = placeOf(keys, low), end = placeOf(keys, high);
    if (end - first > MOST_MARKS || (row + 1) * MARK_PIXELS > area.h / 2) return;
    context.fillStyle = themed(`--series-${index.encodes[encode].colour % COLOURS}`);
    for (let i = first; i < end; i++)
      context.fillRect(graph.toDomXCoord(keys[i]), area.y + area.h - (row + 1) * MARK_PIXELS, 1.5, MARK_PIXELS - 1);
  });
}

/** Shows the same frames as the plot above. */
function followTime(window) {
  if (rateGraph) rateGraph.updateOptions({ file: rateRows(window), dateWindow: window });
}

function drawRates() {
  const holder = document.getElementById("rate-plot"), encodes = encodesWithRates();
  if (rateGraph) rateGraph.destroy();
  rateGraph = null;
  holder.replaceChildren();
  document.getElementById("rates").hidden = !index.rates.length;
  if (!encodes.length || !view.graph) return;
  const window = view.graph.xAxisRange();
  rateGraph = plotIn(holder, rateRows(window), {
    ...commonOptions(encodes.map((i) => `e${i}`), encodes.map((i) => index.encodes[i])), dateWindow: window, includeZero: true,
    stepPlot: false, interactionModel: {}, underlayCallback: drawMarks, xlabel: "frame", xAxisHeight: 40,
    axes: { x: { axisLabelFormatter: frameLabel, axisLabelWidth: 72 }, y: { axisLabelWidth: 56, pixelsPerLabel: 18 } },
  });
}

function startRates() {
  redraws.push(drawRates);
  drawRates();
}
