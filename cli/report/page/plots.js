// SPDX-License-Identifier: BSD-2-Clause-Patent
// What all plots share: colours of the page's theme, dashes, samples of lines, the crosshair.

const COLOURS = 6; // --series-0 and so on
const PAPER_PIXELS = 3; // for each of the screen's
const redraws = []; // functions that draw a plot anew

function themed(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Of a line, as an SVG has them: "none", "9 4". */
function dashOf(style) {
  return index.dashes[style.dash % index.dashes.length];
}

/** Options of every plot. @param {string[]} names of series, @param {{colour, dash}[]} styles of each: its ladder, and its place in it */
function commonOptions(names, styles) {
  const series = {};
  names.forEach((name, i) => {
    series[name] = { color: themed(`--series-${styles[i].colour % COLOURS}`), strokePattern: dashOf(styles[i]).match(/\d+/g)?.map(Number) };
  });
  return {
    labels: ["x", ...names], series, legend: "never", strokeWidth: 1.8, fillAlpha: 0.2, connectSeparatedPoints: false,
    axisLineColor: themed("--faint"), gridLineColor: themed("--line"), gridLineWidth: 0.5, axisLabelFontSize: 13,
    pixelRatio: document.documentElement.classList.contains("printing") ? PAPER_PIXELS : null,
    highlightCircleSize: 0, rightGap: 12, xRangePad: 4, yRangePad: 6,
  };
}

/** The only place where a plot is made. Dygraphs takes titles of axes as HTML, and a log may call a score anything. */
function plotIn(holder, rows, { xlabel, ...options }) {
  const title = document.createElement("span");
  title.textContent = xlabel;
  return new Dygraph(holder, rows, { ...options, xlabel: title.innerHTML });
}

/** A piece of the line, for legends. */
function lineSample(style) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const line = document.createElementNS(space, "line");
  const set = (element, pairs) => Object.entries(pairs).forEach(([key, value]) => element.setAttribute(key, value));
  svg.classList.add("sample");
  set(svg, { viewBox: "0 0 42 14", "aria-hidden": "true" });
  set(line, { x1: 1, y1: 7, x2: 41, y2: 7, "stroke-width": 3, "stroke-dasharray": dashOf(style) });
  line.style.stroke = `var(--series-${style.colour % COLOURS})`;
  svg.append(line);
  return svg;
}

/** Two lines that follow the pointer within a plot. */
function addCrosshair(holder, graph, onMove, onLeave) {
  const lines = ["vertical", "horizontal"].map(() => {
    const line = document.createElement("div");
    line.className = "crosshair";
    line.hidden = true;
    holder.append(line);
    return line;
  });
  const hide = () => { lines.forEach((line) => { line.hidden = true; }); onLeave(); };
  holder.onpointerleave = hide;
  holder.onpointermove = (event) => {
    const box = holder.getBoundingClientRect(), area = graph.getArea();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    if (x < area.x || x > area.x + area.w || y < area.y || y > area.y + area.h) return hide();
    Object.assign(lines[0].style, { left: `${x}px`, top: `${area.y}px`, width: "1px", height: `${area.h}px` });
    Object.assign(lines[1].style, { left: `${area.x}px`, top: `${y}px`, width: `${area.w}px`, height: "1px" });
    lines.forEach((line) => { line.hidden = false; });
    onMove(graph.toDataXCoord(x), graph.toDataYCoord(y));
  };
}

/** A place on the time axis: the frame, and its time below. Both are numbers, so this is no stranger's HTML. */
function frameLabel(frame) {
  if (!Number.isInteger(frame)) return "";
  const time = timeText(frame, index.encodes[0].rate);
  return time ? `${frame}<br>${time}` : String(frame);
}

function redrawAll() {
  redraws.forEach((draw) => draw());
}

/** Pictures in the place of canvases: Chromium prints a canvas that was drawn for paper without its lines. */
function freezePlots() {
  document.querySelectorAll(".plot canvas").forEach((canvas) => {
    const picture = new Image();
    picture.alt = "";
    picture.src = canvas.toDataURL();
    picture.style.cssText = canvas.style.cssText;
    canvas.replaceWith(picture);
  });
}

function followTheme() {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  const print = (isPrinting) => {
    document.documentElement.classList.toggle("printing", isPrinting);
    redrawAll();
    if (isPrinting) freezePlots();
  };
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
}
