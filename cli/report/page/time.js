// SPDX-License-Identifier: BSD-2-Clause-Patent
// One score of all encodes over frames. Only what can be seen is drawn: as many bins as the plot has places for lines,
// and coarse ones outside of the window, by which the overview and the next zoom are drawn.

const FINE_BINS = 600, COARSE_BINS = 200;

const view = { score: index.score, shown: index.encodes.map(() => true), graph: null, binned: null };

function extent() {
  const all = index.encodes.map((_, i) => framesOf(i));
  return [Math.min(...all.map((each) => each[0])), Math.max(...all.map((each) => each[each.length - 1])) + 1];
}

function shownEncodes() {
  return view.shown.flatMap((isShown, i) => (isShown && seriesOf(i, view.score) ? [i] : []));
}

/** Frames from one to the next, of logs of every n-th. */
function stride() {
  return Math.min(...index.encodes.map((each) => each.frames.stride || 1));
}

/** Edges of bins: whole frames, fine within the window, coarse outside of it. */
function edgesFor([low, high]) {
  const [first, end] = extent();
  const edges = new Set();
  const add = (from, to, most) => {
    const count = Math.max(1, Math.min(most, Math.floor((to - from) / stride())));
    for (let k = 0; k <= count; k++) edges.add(Math.round(from + ((to - from) * k) / count));
  };
  const from = Math.max(first, Math.floor(low)), to = Math.min(end, Math.ceil(high));
  if (from > first) add(first, from, COARSE_BINS);
  if (to > from) add(from, to, FINE_BINS);
  if (to < end) add(to, end, COARSE_BINS);
  return [...edges].sort((a, b) => a - b);
}

function binsOf(encode, edges) {
  const series = seriesOf(encode, view.score), frames = framesOf(encode);
  const place = (edge) => Math.floor(placeOf(frames, edge) / series.step);
  return edges.slice(0, -1).map((edge, k) =>
    summaryOf(series, place(edge), Math.max(place(edges[k + 1]), series.step > 1 ? place(edge) + 1 : 0)));
}

function rowsFor(window) {
  const edges = edgesFor(window);
  const columns = shownEncodes().map((encode) => binsOf(encode, edges));
  // A bin of one frame lies on it; others lie in their middle.
  return edges.slice(0, -1).map((edge, k) =>
    [(edge + edges[k + 1] - 1) / 2, ...columns.map((column) => column[k] || [null, null, null])]);
}

function describeWindow([low, high]) {
  const rate = index.encodes[0].rate;
  const first = Math.max(extent()[0], Math.ceil(low)), last = Math.min(extent()[1] - 1, Math.floor(high));
  const times = rate > 0 ? ` (${timeText(first, rate)} to ${timeText(last, rate)})` : "";
  document.getElementById("window").textContent = `${view.score} of frames ${first} to ${last}${times}`;
}

/** After each draw: new bins where the window has moved. */
function refine(graph) {
  const window = graph.xAxisRange();
  describeWindow(window);
  followTime(window);
  if (view.binned && view.binned[0] === window[0] && view.binned[1] === window[1]) return;
  view.binned = window;
  requestAnimationFrame(() => {
    if (view.graph !== graph || view.binned !== window) return;
    graph.updateOptions({ file: rowsFor(window), dateWindow: window });
  });
}

function showPointer(frame) {
  const rate = index.encodes[0].rate;
  document.getElementById("pointer").textContent = frame === null ? ""
    : `at frame ${Math.round(frame)}${rate > 0 ? `, ${timeText(frame, rate)}` : ""}`;
  index.encodes.forEach((_, i) => {
    const found = frame === null ? null : valueAt(i, view.score, frame);
    document.getElementById(`value${i}`).textContent = !found ? ""
      : `${Number.isNaN(found.value) ? "none" : found.value.toFixed(6)}${found.count > 1 ? ` (mean of ${found.count})` : ""}`;
  });
}

function drawTime() {
  const window = view.graph ? view.graph.xAxisRange() : [extent()[0], extent()[1] - 1];
  const holder = document.getElementById("time-plot"), encodes = shownEncodes();
  if (view.graph) view.graph.destroy();
  view.graph = null;
  holder.replaceChildren();
  if (!encodes.length) return;
  view.binned = window;
  const graph = plotIn(holder, rowsFor(window), {
    ...commonOptions(encodes.map((i) => `e${i}`), encodes.map((i) => index.encodes[i])), customBars: true, dateWindow: window, drawCallback: refine,
    interactionModel: Dygraph.defaultInteractionModel, // with the overview below a drag would move the window, not choose one
    xlabel: index.encodes[0].rate > 0 ? "frame, and minutes:seconds" : "frame", showRangeSelector: holder.clientHeight > 200, rangeSelectorHeight: 30,
    rangeSelectorPlotStrokeColor: themed("--faint"), rangeSelectorPlotFillColor: themed("--panel"),
    rangeSelectorPlotFillGradientColor: themed("--panel"), rangeSelectorBackgroundStrokeColor: themed("--faint"),
    rangeSelectorForegroundStrokeColor: themed("--ink"),
    xAxisHeight: 40, axes: { x: { axisLabelFormatter: frameLabel, axisLabelWidth: 72 }, y: { axisLabelWidth: 56 } },
  });
  view.graph = graph;
  addCrosshair(holder, graph, showPointer, () => showPointer(null));
  noteResolution();
}

function noteResolution() {
  const entry = index.series.find((each) => each.score === view.score && each.step > 1);
  const note = document.getElementById("resolution");
  note.hidden = !entry;
  if (entry) note.textContent = `There are too many frames for one page: of ${view.score} it has the mean, lowest and highest of ${entry.step} each.`;
}

/** Never outside of the title, never less than two frames. */
function moveTo(low, high) {
  if (!view.graph) return;
  const [first, end] = extent();
  const width = Math.min(Math.max(high - low, 2), Math.max(end - 1 - first, 1));
  const start = Math.min(Math.max(low, first), Math.max(first, end - 1 - width));
  view.graph.updateOptions({ dateWindow: [start, start + width] });
}

function changeWindow(shift, factor) {
  if (!view.graph) return;
  const [low, high] = view.graph.xAxisRange(), width = high - low;
  const middle = (low + high) / 2 + shift * width;
  moveTo(middle - (width * factor) / 2, middle + (width * factor) / 2);
}

function addOptions(select, names, label) {
  if (!names.length) return;
  const group = document.createElement("optgroup");
  group.label = label;
  names.forEach((name) => group.append(new Option(name, name, false, name === view.score)));
  select.append(group);
}

function addEncode(fieldset, encode, number) {
  const label = document.createElement("label"), box = document.createElement("input"), value = document.createElement("output");
  const name = document.createElement("span");
  box.type = "checkbox";
  box.checked = true;
  box.addEventListener("change", () => { view.shown[number] = box.checked; drawTime(); drawRates(); drawDistribution(); });
  name.textContent = encode.label;
  value.id = `value${number}`;
  label.append(box, lineSample(encode), name, value);
  fieldset.append(label);
}

function startTime() {
  const select = document.getElementById("score");
  addOptions(select, scoresOf(true), "Scores");
  addOptions(select, scoresOf(false).filter((name) => !scoresOf(true).includes(name)), "Features of models");
  select.addEventListener("change", () => { view.score = select.value; drawTime(); drawDistribution(); drawLadder(); });
  index.encodes.forEach((encode, i) => addEncode(document.getElementById("encodes"), encode, i));
  const on = (id, act) => document.getElementById(id).addEventListener("click", act);
  on("earlier", () => changeWindow(-0.5, 1));
  on("later", () => changeWindow(0.5, 1));
  on("closer", () => changeWindow(0, 0.5));
  on("wider", () => changeWindow(0, 2));
  on("whole", () => moveTo(-Infinity, Infinity));
  document.querySelectorAll("button.show").forEach((button) => button.addEventListener("click", () => {
    const first = Number(button.dataset.first), last = Number(button.dataset.last), spare = (last - first + 1) / 4;
    moveTo(first - spare, last + spare);
    document.getElementById("time").scrollIntoView();
  }));
  redraws.push(drawTime);
  drawTime();
}
