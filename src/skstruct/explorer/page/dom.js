// SPDX-License-Identifier: BSD-3-Clause
// Elements from text that is never read as markup: names of columns, labels and rows come from
// data files, so they only ever become text nodes or attribute values.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes, listeners (names of events with functions) and children. */
export function make(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

/** The same in SVG; geometry goes into attributes, as the content policy forbids inline styles. */
export function makeSvg(tag, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children);
}

function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export const byId = (id) => document.getElementById(id);

/** Option elements of a select; each entry is [value, text]. */
export function fillSelect(select, entries, chosen) {
  select.replaceChildren(...entries.map(([value, text]) => make("option", { value }, text)));
  select.value = chosen;
}

/** A number for people: three digits that count; nothing for what is not a number. */
export function formatted(value) {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value !== "number") return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return String(value).replace("-", "−");
  const size = Math.abs(value);
  if (size >= 1000 && size < 1e7) return String(Math.round(value)).replace("-", "−");
  return String(Number(value.toPrecision(3))).replace("-", "−");
}

/** What a cell of the data holds, as text. */
export function cellText(value) {
  if (value === null || value === undefined) return "missing";
  if (typeof value === "object") return JSON.stringify(value);
  return typeof value === "number" ? formatted(value) : String(value);
}

export const capital = (text) => text[0].toUpperCase() + text.slice(1);

/** "1 row", "2 rows". */
export function counted(n, [one, many]) {
  return `${n} ${n === 1 ? one : many}`;
}

let pending = 0;

/** Says a sentence to screen readers, after what they are saying now. */
export function announce(sentence) {
  const region = byId("announcements");
  clearTimeout(pending);
  // An answer that comes at once after another replaces it: nobody wants to hear every step.
  pending = setTimeout(() => {
    region.textContent = sentence;
  }, 150);
}

/**
 * A bar, with what comes `then` at its end or with an interval; all are shares of the width (0..1).
 * It repeats what the text beside it says, so screen readers need not see it.
 */
export function bar(value, { low = null, high = null, then = 0, kind = "" } = {}) {
  const share = (x) => `${(100 * Math.min(1, Math.max(0, x))).toFixed(2)}%`;
  const drawn = makeSvg("svg", { class: `bar ${kind}`, "aria-hidden": "true", focusable: "false" });
  drawn.append(makeSvg("rect", { class: "track", x: 0, y: 3, width: "100%", height: 8, rx: 2 }));
  const own = { class: "value", x: 0, width: share(value) };
  drawn.append(makeSvg("rect", { ...own, y: 3, height: 8, rx: 2 }));
  if (then) {
    const place = { x: share(value), width: share(then) };
    drawn.append(makeSvg("rect", { class: "then", ...place, y: 3, height: 8, rx: 2 }));
  }
  if (low !== null && high !== null) {
    const ends = { x1: share(low), x2: share(high) };
    drawn.append(makeSvg("line", { class: "interval", ...ends, y1: 7, y2: 7 }));
    for (const end of [ends.x1, ends.x2]) {
      drawn.append(makeSvg("line", { class: "interval", x1: end, x2: end, y1: 4, y2: 10 }));
    }
  }
  return drawn;
}
