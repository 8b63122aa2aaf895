// Charts of curves, and of the distribution of parameters, by uPlot.

import { AXES, aligned, csv, groupOf, inOrder as order, number, smoothed, tick, time } from "./data.js";
import { button, make, save } from "./page.js";

const HEIGHT = 230;

// Segments of lines that a chart draws at most: it stays fluent with 1,000 runs.
const SEGMENTS = 200_000;

// Runs that a saved picture names.
const NAMED = 20;

// Lines of the box with the values below the crosshair.
const VALUES = 8;

// The percentiles of ParameterStatistics: the share of the values that lies between neighbors.
const SHARES = [0.0215, 0.1359, 0.3413, 0.3413, 0.1359, 0.0215];

const sync = uPlot.sync("x");

function colors() {
  const probe = make("span", "", document.body);
  const resolved = name => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const found = { text: resolved("--quiet"), line: resolved("--line") };
  probe.remove();
  return found;
}

function yRange(low, high, logarithmic) {
  if (low === null || low === undefined) return [0, 1];
  if (logarithmic) return uPlot.rangeLog(low, high, 10, false);
  const space = low < high ? (high - low) * 0.05 : Math.abs(low) * 0.1 || 1;
  return [low - space, high + space];
}

function axisText(settings, values, format = tick) {
  return values.map(value => (value === null ? "" : settings.x === "elapsed_time" ? time(value) : format(value)));
}

// uPlot knows steps of an axis up to 1e32. The losses of a training that diverges are larger.
const HUGE = 1e30;

function hugeSteps(low, high) {
  const power = Math.floor(Math.log10(high - low));
  return [power - 2, power - 1, power].flatMap(p => [1, 2, 5].map(factor => Number(`${factor}e${p}`)));
}

// Of more decades, a logarithmic axis has ticks at powers of ten only, and at so many of them.
const FINE_DECADES = 4;
const POWERS = 8;

function powersOfTen(low, high) {
  const first = Math.ceil(Math.log10(low)), last = Math.floor(Math.log10(high));
  const step = Math.max(1, Math.ceil((last - first + 1) / POWERS)), found = [];
  for (let power = Math.ceil(first / step) * step; power <= last; power += step) found.push(Number(`1e${power}`));
  return found;
}

/** Steps of the vertical axis that uPlot does not choose well by itself. */
function stepsOf(columns, logarithmic) {
  let low = Infinity, high = -Infinity;
  for (const column of columns) {
    for (const value of column) {
      if (value === null) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  const incrs = (plot, i, from, to) => hugeSteps(from, to);
  if (logarithmic && Math.log10(high / low) > FINE_DECADES) {
    return { name: "powers", incrs, splits: (plot, i, from, to) => powersOfTen(from, to), filter: (plot, splits) => splits };
  }
  if (high - low > HUGE) return { name: "huge", incrs };
  return { name: "" };
}

/** A figure with curves. It draws when it is on the screen, and only if something has changed. */
class Chart {
  constructor(title, settings, observer) {
    this.title = title;
    this.settings = settings;
    this.figure = make("figure");
    this.figure.dataset.key = title;
    this.figure.chart = this;
    const caption = make("figcaption", undefined, this.figure);
    make("h3", title, caption);
    button("CSV", `Save ${title} as CSV`, caption, () => save(`${title}.csv`, csv(this.rows())));
    button("PNG", `Save ${title} as PNG`, caption, () => this.savePicture());
    this.place = make("div", undefined, this.figure);
    this.place.className = "plot";
    // The crosshair is a slider: the arrow keys move it along the axis.
    for (const [name, value] of Object.entries({ role: "slider", "aria-label": title, "aria-valuenow": 0 })) this.place.setAttribute(name, value);
    this.place.tabIndex = 0;
    this.place.onkeydown = event => this.onKey(event);
    this.place.onblur = () => this.plot?.setCursor({ left: -10, top: -10 });
    this.box = make("div", undefined, this.figure);
    this.box.className = "values";
    this.box.hidden = true;
    this.runs = [];
    this.onScreen = false;
    this.drawn = "";
    observer.observe(this.figure);
  }

  /** Runs that are shown from now on. */
  show(runs) {
    this.runs = runs;
    if (this.onScreen) this.draw();
  }

  /** What the drawing depends on. */
  state() {
    const { x, smoothing, logarithmic, zoom, theme } = this.settings;
    const runs = this.runs.map(run => `${run.name}:${run.version}`).join("|");
    return `${x};${smoothing};${logarithmic};${zoom};${theme};${this.place.clientWidth};${runs}`;
  }

  draw() {
    const state = this.state();
    if (state === this.drawn || !this.place.clientWidth) return;
    this.drawn = state;
    const { data, options } = this.plan();
    const last = Math.max(data[0].length - 1, 0);
    for (const [name, value] of Object.entries({ min: 0, max: last, now: Math.min(this.index ?? 0, last) })) this.place.setAttribute(`aria-value${name}`, value);
    const kept = this.plot && options.key === this.key && options.width === this.plot.width;
    if (kept) {
      this.plot.setData(data, false);
      this.plot.setScale("x", this.range(data[0]));
    } else {
      this.plot?.destroy();
      this.plot = new uPlot(options, data, this.place);
      this.key = options.key;
    }
  }

  /** Curves as points: one for each run. */
  curves() {
    return this.runs.map(run => {
      const [xs, ys] = run.points(this.settings.x, this.title);
      return [xs, smoothed(ys, this.settings.smoothing)];
    });
  }

  plan() {
    const curves = this.curves();
    const width = Math.floor(this.place.clientWidth);
    const limit = Math.max(64, Math.min(2 * width, Math.floor(SEGMENTS / Math.max(curves.length, 1))));
    const data = aligned(curves, this.settings.zoom, limit);
    // A logarithmic axis where all values are positive.
    const positive = data.slice(1).every(column => column.every(value => value === null || value > 0));
    const logarithmic = this.settings.logarithmic && positive && data[0].length > 0;
    const series = this.runs.map(run => ({ stroke: run.color, width: 1.5, spanGaps: true, points: { show: data[0].length < 30 } }));
    this.place.setAttribute("aria-label", this.spoken());
    const { name, ...steps } = stepsOf(data.slice(1), logarithmic);
    const key = [this.runs.map(run => run.name).join("|"), logarithmic, name, this.settings.x, this.settings.theme].join(";");
    return { data, options: { ...this.options(width, logarithmic, steps, data[0]), series: [{}, ...series], key } };
  }

  spoken() {
    const some = this.runs.slice(0, 5).map(run => `${run.name} ${number(run.last(this.title))}`);
    return `${this.title} by ${AXES[this.settings.x]}, ${this.runs.length} runs. Last values: ${some.join(", ")}`;
  }

  range(x) {
    if (this.settings.zoom) return { min: this.settings.zoom[0], max: this.settings.zoom[1] };
    if (!x.length) return { min: 0, max: 1 };
    const low = x[0], high = x[x.length - 1];
    return low < high ? { min: low, max: high } : { min: low - 0.5, max: high + 0.5 };
  }

  options(width, logarithmic, steps, x) {
    const { text, line } = colors();
    const axis = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: "11px system-ui, sans-serif" };
    const range = this.range(x);
    return {
      width,
      height: HEIGHT,
      legend: { show: false },
      padding: [8, 12, 0, 0],
      scales: {
        x: { time: false, range: () => { const now = this.range(this.plot?.data[0] ?? x); return [now.min ?? range.min, now.max ?? range.max]; } },
        y: {
          distr: logarithmic ? 3 : 1,
          range: (_, low, high) => yRange(low, high, logarithmic),
        },
      },
      axes: [
        { ...axis, values: (_, values) => axisText(this.settings, values), space: 60, size: 32 },
        { ...axis, ...steps, size: 62, values: (_, values) => values.map(value => (value === null ? "" : tick(value))) },
      ],
      cursor: {
        sync: { key: sync.key, setSeries: false },
        drag: { x: true, y: false, setScale: false },
        bind: { dblclick: () => () => (this.settings.onZoom(null), null) },
        points: { show: this.runs.length <= 20 },
      },
      hooks: {
        setSelect: [plot => this.select(plot)],
        setCursor: [plot => this.point(plot)],
      },
    };
  }

  /** Moves the crosshair by keys. Where it is not moved, the keys of the page hold. */
  onKey(event) {
    const last = (this.plot?.data[0].length ?? 0) - 1;
    if (last < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const now = this.plot.cursor.left >= 0 ? this.plot.cursor.idx : null;
    const step = event.shiftKey ? Math.max(1, Math.round(last / 20)) : 1;
    const moved = { ArrowLeft: (now ?? last + step) - step, ArrowRight: (now ?? -step) + step, Home: 0, End: last }[event.key];
    if (moved === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.moveTo(Math.min(Math.max(moved, 0), last));
  }

  /** Puts the crosshair on an index of the axis, at the height of the first curve there. */
  moveTo(index) {
    const { data } = this.plot, value = data.slice(1).map(column => nearest(column, index)).find(y => y !== null);
    this.plot.setCursor({ left: this.plot.valToPos(data[0][index], "x"), top: value === undefined ? 0 : this.plot.valToPos(value, "y") });
    this.index = index;
    this.place.setAttribute("aria-valuenow", index);
    this.place.setAttribute("aria-valuetext", this.box.hidden ? this.position(data[0][index]) : [...this.box.children].map(line => line.textContent.trim()).join(", "));
  }

  select(plot) {
    if (plot.select.width < 4) return;
    const ends = [plot.select.left, plot.select.left + plot.select.width].map(left => plot.posToVal(left, "x"));
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.settings.onZoom(ends);
  }

  /** A place on the axis as a text. */
  position(x) {
    return `${AXES[this.settings.x]} ${axisText(this.settings, [x], number)[0]}`;
  }

  /** Shows the values below the crosshair, those nearest to it first. */
  point(plot) {
    const { idx, left, top } = plot.cursor;
    // The crosshairs of the charts move together: the values are shown at one of them.
    const here = this.place.matches(":hover") || document.activeElement === this.place;
    this.box.hidden = !here || idx === null || idx === undefined || left < 0;
    if (this.box.hidden) return;
    const wanted = plot.posToVal(top, "y");
    const found = this.runs
      .map((run, i) => [run, nearest(plot.data[i + 1], idx)])
      .filter(([, value]) => value !== null)
      .sort((a, b) => Math.abs(a[1] - wanted) - Math.abs(b[1] - wanted));
    this.box.replaceChildren();
    make("div", this.position(plot.data[0][idx]), this.box).className = "quiet";
    for (const [run, value] of found.slice(0, VALUES)) {
      const line = make("div", undefined, this.box), dot = make("span", undefined, line);
      dot.className = "dot";
      dot.style.background = run.color;
      line.append(` ${number(value)} ${run.name}`);
    }
    if (found.length > VALUES) make("div", `${found.length - VALUES} more`, this.box).className = "quiet";
    const right = left > plot.over.clientWidth / 2;
    this.box.style.top = `${this.place.offsetTop + 12}px`;
    this.box.style.left = right ? "auto" : `${this.place.offsetLeft + left + 80}px`;
    this.box.style.right = right ? `${plot.over.clientWidth - left + 30}px` : "auto";
  }

  /** All points, not only those that are drawn, and without smoothing. */
  *rows() {
    yield ["run", this.settings.x, this.title];
    for (const run of this.runs) {
      const [xs, ys] = run.points(this.settings.x, this.title);
      for (let i = 0; i < xs.length; i++) yield [run.name, xs[i], ys[i]];
    }
  }

  /** The chart as it is drawn, with its title above and the names of its runs below. */
  savePicture() {
    this.draw();
    const source = this.plot.ctx.canvas, canvas = document.createElement("canvas");
    const ratio = source.width / this.plot.width, line = 18 * ratio, left = 8 * ratio;
    const named = this.runs.slice(0, NAMED), others = this.runs.length - named.length;
    canvas.width = source.width;
    canvas.height = source.height + line * (2 + named.length + (others ? 1 : 0));
    const context = canvas.getContext("2d"), style = getComputedStyle(document.body);
    context.fillStyle = style.backgroundColor;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(source, 0, 1.5 * line);
    context.font = `${13 * ratio}px system-ui, sans-serif`;
    const write = (content, x, y, width) => {
      context.fillStyle = style.color;
      context.fillText(content, x, y, width);
    };
    write(`${this.title} by ${AXES[this.settings.x]}`, left, line, canvas.width - 2 * left);
    let y = source.height + 2.2 * line;
    for (const run of named) {
      context.fillStyle = run.color;
      context.fillRect(left, y - 9 * ratio, 9 * ratio, 9 * ratio);
      write(run.name, left + 16 * ratio, y, canvas.width - 2 * left - 16 * ratio);
      y += line;
    }
    if (others) write(`and ${others} more runs`, left, y);
    canvas.toBlob(blob => save(`${this.title}.png`, blob));
  }

  remove(observer) {
    observer.unobserve(this.figure);
    this.plot?.destroy();
    this.figure.remove();
  }
}

function nearest(column, index) {
  for (let d = 0; d < 20; d++) {
    for (const i of [index - d, index + d]) if (column[i] !== null && column[i] !== undefined) return column[i];
  }
  return null;
}

/** The course of seven percentiles of one run, and the histogram below the crosshair. */
class Distribution extends Chart {
  constructor(title, settings, observer) {
    super(title, settings, observer);
    this.canvas = make("canvas", undefined, this.figure);
    this.canvas.className = "histogram";
    this.canvas.setAttribute("role", "img");
  }

  show(runs) {
    const own = runs.filter(run => run.columns.has(`${this.title}/percentile/0`));
    super.show(own.slice(0, 1));
  }

  curves() {
    const [run] = this.runs;
    if (!run) return [];
    return [0, 1, 2, 3, 4, 5, 6].map(i => run.points(this.settings.x, `${this.title}/percentile/${i}`));
  }

  plan() {
    const { data, options } = super.plan();
    const color = this.runs[0]?.color ?? "gray", count = data.length - 1;
    const series = Array.from({ length: count }, (_, i) => ({ stroke: color, width: i === 3 ? 2 : 0.5, spanGaps: true, points: { show: false } }));
    // Between the percentiles of one, two and three standard deviations.
    const fill = `color-mix(in srgb, ${color} 22%, transparent)`;
    const bands = count ? [[7, 1], [6, 2], [5, 3]].map(pair => ({ series: pair, fill })) : [];
    requestAnimationFrame(() => this.histogram(data[0].length - 1));
    return { data, options: { ...options, series: [{}, ...series], bands } };
  }

  spoken() {
    const [run] = this.runs;
    return run ? `${this.title}: percentiles by ${AXES[this.settings.x]} of ${run.name}, median ${number(run.last(`${this.title}/percentile/3`))}` : this.title;
  }

  point(plot) {
    const { idx } = plot.cursor;
    if (idx !== null && idx !== undefined) this.histogram(idx);
  }

  /** Draws the density between the percentiles at one index of the axis. */
  histogram(index) {
    const data = this.plot?.data;
    if (!data || data.length < 8) return;
    const edges = data.slice(1).map(column => nearest(column, index));
    if (edges.some(edge => edge === null)) return;
    const ratio = window.devicePixelRatio || 1, width = this.canvas.clientWidth * ratio, height = this.canvas.clientHeight * ratio;
    Object.assign(this.canvas, { width, height });
    const context = this.canvas.getContext("2d"), span = edges[6] - edges[0] || 1;
    const densities = SHARES.map((share, i) => share / (edges[i + 1] - edges[i] || span / 1000));
    const highest = Math.max(...densities), left = value => 4 + ((value - edges[0]) / span) * (width - 8);
    context.fillStyle = this.runs[0].color;
    densities.forEach((density, i) => {
      const tall = (density / highest) * (height - 18 * ratio);
      context.fillRect(left(edges[i]), height - 16 * ratio - tall, Math.max(left(edges[i + 1]) - left(edges[i]) - 1, 1), tall);
    });
    context.fillStyle = colors().text;
    context.font = `${11 * ratio}px system-ui, sans-serif`;
    context.fillText(number(edges[0]), 4, height - 3 * ratio);
    context.textAlign = "center";
    context.fillText(this.position(data[0][index]), width / 2, height - 3 * ratio);
    context.textAlign = "right";
    context.fillText(number(edges[6]), width - 4, height - 3 * ratio);
    this.canvas.setAttribute("aria-label", `Histogram from ${number(edges[0])} to ${number(edges[6])}, median ${number(edges[3])}`);
  }

  rows() {
    const [run] = this.runs;
    if (!run) return [];
    const curves = this.curves();
    return [["run", this.settings.x, ...curves.map((_, i) => `percentile/${i}`)], ...curves[0][0].map((x, i) => [run.name, x, ...curves.map(([, ys]) => ys[i])])];
  }
}

/** All charts of the page, in groups by the first part of their names. */
export class Charts {
  constructor(place, settings) {
    this.place = place;
    this.settings = settings;
    this.charts = new Map();
    this.groups = new Map();
    this.observer = new IntersectionObserver(seen => {
      for (const { target, isIntersecting } of seen) {
        target.chart.onScreen = isIntersecting;
        if (isIntersecting) target.chart.draw();
      }
    }, { rootMargin: "200px" });
    new ResizeObserver(() => this.each(chart => chart.onScreen && chart.draw())).observe(place);
  }

  each(action) {
    for (const chart of this.charts.values()) action(chart);
  }

  /** Shows the charts of these keys with these runs. */
  show(keys, runs) {
    const wanted = new Set();
    for (const key of keys) wanted.add(/\/percentile\/[0-6]$/.test(key) ? key.replace(/\/percentile\/[0-6]$/, "\u0000") : key);
    for (const [name, chart] of this.charts) {
      if (wanted.has(name)) continue;
      chart.remove(this.observer);
      this.charts.delete(name);
    }
    for (const name of [...wanted].sort(order)) {
      const chart = this.charts.get(name) ?? this.create(name);
      chart.show(chart instanceof Distribution ? runs : runs.filter(run => run.columns.has(chart.title)));
    }
    for (const [name, group] of this.groups) {
      if (group.querySelector("figure")) continue;
      group.parentElement.remove();
      this.groups.delete(name);
    }
  }

  create(name) {
    const title = name.replace("\u0000", "");
    const chart = new (title === name ? Chart : Distribution)(title, this.settings, this.observer);
    const grid = this.group(title);
    const after = [...grid.children].find(figure => order(figure.dataset.key, title) > 0);
    grid.insertBefore(chart.figure, after ?? null);
    this.charts.set(name, chart);
    return chart;
  }

  group(title) {
    const name = groupOf(title);
    if (!this.groups.has(name)) {
      const block = make("details", undefined, this.place);
      // Statistics of parameters are many: they are opened when they are wanted.
      block.open = this.groups.size < 4;
      make("summary", name, block);
      block.dataset.title = title;
      const after = [...this.place.children].find(other => order(other.dataset.title ?? "", title) > 0);
      if (after) this.place.insertBefore(block, after);
      const grid = make("div", undefined, block);
      grid.className = "grid";
      this.groups.set(name, grid);
    }
    return this.groups.get(name);
  }
}
