// SPDX-License-Identifier: BSD-2-Clause-Patent
// The report's data: an index, and series that are decoded when they are asked for.

const index = JSON.parse(document.getElementById("index").textContent);
const MISSING = -2147483648; // of millionths
const decoded = new Map();

function bytesOf(id) {
  const text = atob(document.getElementById(id).textContent);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes.buffer;
}

function doublesOf(id, kind) {
  if (kind === "doubles") return new Float64Array(bytesOf(id));
  const millionths = new Int32Array(bytesOf(id));
  return Float64Array.from(millionths, (value) => (value === MISSING ? NaN : value / 1e6));
}

/** @return {{mean, low, high, step}} arrays over steps of the encode's frames; null: it has no such score */
function seriesOf(encode, score) {
  return decodedSeries(index.series.find((each) => each.encode === encode && each.score === score));
}

/** The same of its bit rate: Mbit/s of each frame. */
function ratesOf(encode) {
  return decodedSeries(index.rates.find((each) => each.encode === encode));
}

/** Numbers of its key frames. */
function keysOf(encode) {
  const id = index.encodes[encode].keys;
  if (!id) return new Float64Array();
  if (!decoded.has(id)) decoded.set(id, doublesOf(id, "doubles"));
  return decoded.get(id);
}

function decodedSeries(entry) {
  if (!entry) return null;
  if (!decoded.has(entry.id)) {
    const values = doublesOf(entry.id, entry.kind);
    const third = values.length / 3;
    const part = (k) => values.subarray(k * third, (k + 1) * third);
    decoded.set(entry.id, entry.step === 1 ? { mean: values, low: values, high: values, step: 1 }
      : { mean: part(0), low: part(1), high: part(2), step: entry.step });
  }
  return decoded.get(entry.id);
}

/** Numbers of an encode's frames. */
function framesOf(encode) {
  const frames = index.encodes[encode].frames;
  const key = `frames${encode}`;
  if (!decoded.has(key))
    decoded.set(key, frames.id ? doublesOf(frames.id, "doubles")
      : Float64Array.from({ length: frames.count }, (_, i) => frames.first + i * frames.stride));
  return decoded.get(key);
}

/** The first place of an ascending array that is not below a value. */
function placeOf(array, value) {
  let low = 0, high = array.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (array[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Means and extremes of the entries first..end - 1; null where none has a score. */
function summaryOf(series, first, end) {
  let sum = 0, count = 0, low = Infinity, high = -Infinity;
  for (let i = first; i < end; i++) {
    if (Number.isNaN(series.mean[i])) continue;
    sum += series.mean[i];
    count++;
    if (series.low[i] < low) low = series.low[i];
    if (series.high[i] > high) high = series.high[i];
  }
  return count ? [low, sum / count, high] : null;
}

/** What the log has at the frame nearest to a number: {frame, mean, count}. */
function valueAt(encode, score, number) {
  const series = seriesOf(encode, score);
  if (!series) return null;
  const frames = framesOf(encode);
  let place = Math.min(placeOf(frames, number), frames.length - 1);
  if (place > 0 && number - frames[place - 1] < frames[place] - number) place--;
  return { frame: frames[place], value: series.mean[Math.floor(place / series.step)], count: series.step };
}

function scoresOf(headline) {
  return [...new Set(index.series.filter((each) => each.headline === headline).map((each) => each.score))];
}

function timeText(frame, rate) {
  if (!(rate > 0)) return "";
  const seconds = frame / rate;
  return `${Math.floor(seconds / 60)}:${(seconds % 60).toFixed(1).padStart(4, "0")}`;
}
