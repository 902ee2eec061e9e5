// SPDX-License-Identifier: BSD-2-Clause-Patent
// The list of titles: ordered by a column, and cut to what was searched for.

const list = document.getElementById("titles"), body = list.tBodies[0], rows = [...body.rows];
const texts = rows.map((row) => row.textContent.toLowerCase());
const words = new Intl.Collator(undefined, { numeric: true });

function keyOf(row, column) {
  const cell = row.cells[column];
  return "order" in cell.dataset ? (cell.dataset.order === "" ? -Infinity : Number(cell.dataset.order)) : cell.textContent;
}

/** Numbers and texts; rows that are alike keep their order. */
function orderBy(column, isDown) {
  const keys = new Map(rows.map((row) => [row, keyOf(row, column)])), sign = isDown ? -1 : 1;
  const compare = (a, b) => (typeof a === "number" ? (a < b ? -1 : a > b ? 1 : 0) : words.compare(a, b));
  body.append(...[...rows].sort((a, b) => sign * compare(keys.get(a), keys.get(b))));
  [...list.tHead.rows[0].cells].forEach((cell, i) => {
    if (i === column) cell.setAttribute("aria-sort", isDown ? "descending" : "ascending");
    else cell.removeAttribute("aria-sort");
  });
}

function search(text) {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  rows.forEach((row, i) => {
    row.hidden = !wanted.every((word) => texts[i].includes(word));
    count += row.hidden ? 0 : 1;
  });
  document.getElementById("found").textContent = `${count} of ${rows.length}`;
}

[...list.tHead.rows[0].cells].forEach((cell, i) => {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = cell.textContent;
  // Findings are looked for from the most on, all else from the least.
  button.addEventListener("click", () => {
    const now = cell.getAttribute("aria-sort");
    orderBy(i, now ? now === "ascending" : cell.textContent === "findings");
  });
  cell.replaceChildren(button);
});
const field = document.getElementById("search");
field.addEventListener("input", () => search(field.value));
search(field.value);
requestAnimationFrame(() => { document.documentElement.dataset.drawnMs = String(Math.round(performance.now())); });
