// The runs as columns of numbers that grow, and curves of them that fit on a screen.

const PALETTE = ["#3f6fd8", "#d8653f", "#2f9e62", "#a34fc4", "#b58a16", "#1a9ba3", "#d14a8b", "#7a7f87"];
/** Axes of the log, and how the page calls them. */
export const AXES = { iteration: "iteration", epoch: "epoch", elapsed_time: "time" };

/** A run: its columns, and what is known beside them. */
export class Run {
  constructor(name, number) {
    this.name = name;
    this.visible = true;
    // Neighbors differ also if there are more runs than colors.
    this.color = number < PALETTE.length ? PALETTE[number] : `hsl(${(number * 137.5) % 360} 60% 50%)`;
    this.clear();
  }

  clear() {
    this.length = 0;
    this.columns = new Map();
    // The last value of each name: null where it is no number, as in a training that diverged.
    this.lasts = new Map();
    this.version = (this.version ?? 0) + 1;
  }

  /** Takes what a response says: the entries from one index on, and the rest as it is now. */
  update(change) {
    const { from, keys, shapes, rows, ...about } = change;
    if (from === 0) this.clear();
    this.about = about;
    this.length = from + rows.length;
    for (const [key, column] of this.columns) this.columns.set(key, grown(column, from, this.length));
    rows.forEach((row, i) => {
      const names = keys[shapes[i]];
      row.forEach((value, j) => {
        if (value === null || typeof value === "number") this.lasts.set(names[j], value);
        if (typeof value !== "number") return;
        let column = this.columns.get(names[j]);
        if (!column) this.columns.set(names[j], (column = grown(new Float64Array(0), 0, this.length)));
        column[from + i] = value;
      });
    });
    this.version += 1;
  }

  /** The last value of a name: null if it is NaN or infinite, undefined if there is none. */
  last(key) {
    return this.lasts.get(key);
  }

  /** The points of a curve, sorted along the axis: two arrays. */
  points(axis, key) {
    const a = this.columns.get(axis), b = this.columns.get(key);
    if (!a || !b) return [[], []];
    const xs = [], ys = [];
    let sorted = true;
    for (let i = 0; i < this.length; i++) {
      if (Number.isNaN(a[i]) || Number.isNaN(b[i])) continue;
      if (xs.length && a[i] < xs[xs.length - 1]) sorted = false;
      xs.push(a[i]);
      ys.push(b[i]);
    }
    if (sorted) return [xs, ys];
    const order = xs.map((_, i) => i).sort((i, j) => xs[i] - xs[j]);
    return [order.map(i => xs[i]), order.map(i => ys[i])];
  }
}

function grown(column, from, length) {
  if (column.length < length) {
    const larger = new Float64Array(Math.max(length, 2 * column.length)).fill(NaN);
    larger.set(column);
    column = larger;
  }
  return column.fill(NaN, from, length);
}

/** The names of the values that runs have, without the axes. */
export function keysOf(runs) {
  const keys = new Set();
  for (const run of runs) for (const key of run.columns.keys()) keys.add(key);
  for (const axis of Object.keys(AXES)) keys.delete(axis);
  return [...keys].sort();
}

/** Exponential means as TensorBoard has them: the first values count as much as they should. */
export function smoothed(ys, weight) {
  if (weight <= 0) return ys;
  let mean = 0, mass = 0;
  return ys.map(y => {
    if (!Number.isFinite(y)) return y;
    mean = weight * mean + (1 - weight) * y;
    mass = weight * mass + (1 - weight);
    return mean / mass;
  });
}

/**
 * Curves over one list of x, as uPlot draws them.
 *
 * If they have more points than the screen, each part of the axis keeps the smallest and the largest
 * value of a curve, so that no spike is lost.
 *
 * @param curves pairs of xs and ys.
 * @param range the part of the axis that is shown: two numbers, or null.
 * @param limit number of x.
 * @returns the x, and for each curve its values or null.
 */
export function aligned(curves, range, limit) {
  const parts = curves.map(([xs, ys]) => (range ? cut(xs, ys, range) : [xs, ys]));
  const distinct = new Set();
  for (const [xs] of parts) {
    for (const x of xs) distinct.add(x);
    if (distinct.size > limit) return bucketed(parts, limit >> 1);
  }
  const x = Float64Array.from(distinct).sort();
  const index = new Map();
  x.forEach((value, i) => index.set(value, i));
  const columns = parts.map(([xs, ys]) => {
    const column = new Array(x.length).fill(null);
    xs.forEach((value, i) => (column[index.get(value)] = ys[i]));
    return column;
  });
  return [x, ...columns];
}

function cut(xs, ys, [from, to]) {
  // A point on either side, so that the curve reaches the border.
  let first = xs.findIndex(x => x >= from);
  if (first < 0) first = xs.length;
  let last = first;
  while (last < xs.length && xs[last] <= to) last++;
  first = Math.max(first - 1, 0);
  last = Math.min(last + 1, xs.length);
  return [xs.slice(first, last), ys.slice(first, last)];
}

function bucketed(parts, count) {
  let low = Infinity, high = -Infinity;
  for (const [xs] of parts) {
    if (!xs.length) continue;
    low = Math.min(low, xs[0]);
    high = Math.max(high, xs[xs.length - 1]);
  }
  const width = (high - low) / count || 1;
  const x = Float64Array.from({ length: 2 * count }, (_, i) => low + (i / 2 + 0.25) * width);
  const columns = parts.map(([xs, ys]) => {
    const column = new Array(2 * count).fill(null);
    const put = (bucket, first, second) => {
      column[2 * bucket] = first;
      column[2 * bucket + 1] = second;
    };
    let bucket = -1, smallest = 0, largest = 0;
    xs.forEach((value, i) => {
      const now = Math.min(Math.floor((value - low) / width), count - 1);
      if (now !== bucket) {
        if (bucket >= 0) put(bucket, ys[Math.min(smallest, largest)], ys[Math.max(smallest, largest)]);
        bucket = now;
        smallest = largest = i;
      }
      if (ys[i] < ys[smallest]) smallest = i;
      if (ys[i] > ys[largest]) largest = i;
    });
    if (bucket >= 0) put(bucket, ys[Math.min(smallest, largest)], ys[Math.max(smallest, largest)]);
    return column;
  });
  return [x, ...columns];
}

/** A number as the page shows it. */
export function number(value) {
  if (typeof value !== "number") return value === null ? "nan" : value === undefined ? "" : String(value);
  // Beyond 15 digits every number is an integer.
  return Number.isInteger(value) && Math.abs(value) < 1e15 ? String(value) : String(Number(value.toPrecision(4)));
}

/** A number as an axis shows it: short, for there is little space. */
export function tick(value) {
  if (Math.abs(value) < 1e6) return number(value);
  return value.toExponential(3).replace(/\.?0*e\+?/, "e");
}

/** Names of values in the order in which one looks for them: statistics of parameters come last. */
export function inOrder(a, b) {
  return rank(a) - rank(b) || a.localeCompare(b, undefined, { numeric: true });
}

const MAIN = ["main", "validation", "values"];

/** The first part of a name. */
export function groupOf(title) {
  const slash = title.indexOf("/");
  return slash < 0 ? "values" : title.slice(0, slash);
}

/** Whether a value is one that a training is about. */
export function isMain(title) {
  return MAIN.includes(groupOf(title));
}

function rank(title) {
  return isMain(title) ? MAIN.indexOf(groupOf(title)) : MAIN.length;
}

/** Seconds as hours, minutes and seconds. */
export function time(seconds) {
  const s = Math.round(seconds), two = n => String(n).padStart(2, "0");
  if (s < 60) return `${number(seconds)} s`;
  return s < 3600 ? `${Math.floor(s / 60)}:${two(s % 60)}` : `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
}

/** A number of bytes with its unit. */
export function bytes(n) {
  for (const unit of ["B", "KiB", "MiB"]) {
    if (n < 1024) return `${n.toFixed(unit === "B" ? 0 : 1)} ${unit}`;
    n /= 1024;
  }
  return `${n.toFixed(1)} GiB`;
}

/** A value of a description as a text. */
export function text(value) {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : number(value);
}

// Lines of a part of a file: a text of millions of lines is not held as a whole.
const PART = 20_000;

function cell(value) {
  if (typeof value === "number") return String(value);
  const content = value === undefined || value === null ? "" : String(value);
  return /[",\r\n]/.test(content) ? `"${content.replaceAll('"', '""')}"` : content;
}

/** Rows (any iterable) as a file of comma-separated values: a list of blobs. */
export function csv(rows) {
  const parts = [];
  let lines = [];
  const end = () => {
    parts.push(new Blob([`${lines.join("\r\n")}\r\n`]));
    lines = [];
  };
  for (const row of rows) {
    lines.push(row.map(cell).join(","));
    if (lines.length === PART) end();
  }
  if (lines.length) end();
  return parts;
}
