// The board: asks for what is new, and shows it.

import { Charts } from "./charts.js";
import { AXES as AXIS_NAMES, Run, keysOf } from "./data.js";
import { get, keepingFocus, make, pattern } from "./page.js";
import { showDetails, showPictures, showTable } from "./views.js";

// Milliseconds between questions, and while long logs are read, of which each answer has a part.
const INTERVAL = 2000;
const READING_INTERVAL = 200;

// Of more runs than this the ones that changed last are shown first.
const MANY = 50;
const FIRST = 20;

const AXES = Object.keys(AXIS_NAMES);
const VIEWS = ["curves", "compare", "pictures", "details"];

const runs = new Map();
const settings = { x: "iteration", smoothing: 0, logarithmic: false, zoom: null, theme: "", onZoom: zoom };
const charts = new Charts(get("charts"), settings);
let state = "", view = "curves", created = 0, planned = false;

/** Draws once, however many changes there are before the next frame. */
function draw() {
  if (planned) return;
  planned = true;
  requestAnimationFrame(() => {
    planned = false;
    const shown = filtered().filter(run => run.visible);
    if (view === "curves") {
      const wanted = pattern(get("filter-charts").value);
      const keys = keysOf(runs.values()), found = keys.filter(key => wanted.test(key));
      charts.show(found, shown);
      get("no-charts").textContent = found.length && shown.length ? "" : reason(keys, shown);
    }
    if (view === "compare") showTable(shown);
    if (view === "pictures") showPictures(shown);
    if (view === "details") showDetails(shown);
    get("reset-zoom").hidden = !settings.zoom;
  });
}

/** Why there is no curve. */
function reason(keys, shown) {
  if (!runs.size) return state && "No logs here yet: LogReport writes a log after the first epoch, unless its trigger says otherwise.";
  if (!shown.length) return "No run is shown.";
  if (keys.length) return "No chart has such a name.";
  // Only in answers there is null for NaN and infinity.
  if (shown.some(run => run.lasts.size)) return "All values are nan or infinite.";
  return "The logs have no numbers yet.";
}

function filtered() {
  const wanted = pattern(get("filter").value);
  return [...runs.values()].filter(run => wanted.test(run.name));
}

/** Lists the runs that the filter lets through. */
function list() {
  const found = filtered(), shown = found.filter(run => run.visible).length;
  get("count").textContent = shown === runs.size ? `${shown}` : `${shown} of ${runs.size} shown`;
  const place = get("runs"), rows = found.map(run => (run.row ??= row(run)));
  found.forEach(run => run.refresh());
  if (rows.length !== place.children.length || rows.some((one, i) => one !== place.children[i])) keepingFocus(() => place.replaceChildren(...rows));
  // The list is one stop of the Tab key, as there may be thousands of runs. Arrow keys move inside.
  const boxes = [...place.querySelectorAll("input")];
  if (boxes.length && !boxes.some(box => box.tabIndex === 0)) boxes[0].tabIndex = 0;
}

/** Moves the focus inside the list of runs. Returns whether the key is one of the list. */
function moveInList(box, key) {
  const boxes = [...get("runs").querySelectorAll("input")], now = boxes.indexOf(box), last = boxes.length - 1;
  const next = { ArrowDown: Math.min(now + 1, last), ArrowUp: Math.max(now - 1, 0), Home: 0, End: last }[key];
  if (next === undefined) return false;
  boxes[next].focus();
  return true;
}

function row(run) {
  const label = make("label"), box = make("input", undefined, label), dot = make("span", undefined, label), content = make("span", undefined, label);
  box.type = "checkbox";
  box.tabIndex = -1;
  box.dataset.focus = `run ${run.name}`;
  box.onfocus = () => {
    for (const other of get("runs").querySelectorAll("input")) other.tabIndex = other === box ? 0 : -1;
  };
  dot.className = "dot";
  dot.style.background = run.color;
  make("span", run.name, content);
  const note = make("div", undefined, content);
  box.onchange = () => {
    run.visible = box.checked;
    list();
    draw();
  };
  label.ondblclick = event => {
    event.preventDefault();
    alone();
  };
  const alone = () => {
    for (const other of runs.values()) other.visible = other === run;
    list();
    draw();
  };
  box.onkeydown = event => {
    if (event.key === "Enter") alone();
  };
  run.refresh = () => {
    box.checked = run.visible;
    const { problem, entries, read } = run.about, parts = [];
    if (run.length < entries) parts.push(`${run.length} of ${entries} entries`);
    if (read < 1) parts.push(`${Math.round(100 * read)} % read`);
    note.className = problem ? "problem" : "quiet";
    note.textContent = problem || parts.join(", ");
  };
  return label;
}

function take(answer) {
  const first = !runs.size;
  state = answer.state;
  const names = new Set(answer.names);
  for (const name of runs.keys()) if (!names.has(name)) runs.delete(name);
  for (const name of answer.names) {
    if (!runs.has(name)) runs.set(name, new Run(name, created++));
    if (Object.hasOwn(answer.runs, name)) runs.get(name).update(answer.runs[name]);
  }
  if (first && runs.size > MANY) {
    const newest = [...runs.values()].sort((a, b) => b.about.modified - a.about.modified);
    newest.forEach((run, i) => (run.visible = i < FIRST));
  }
  // In the order of the names, also those that came later.
  const sorted = answer.names.map(name => [name, runs.get(name)]);
  runs.clear();
  for (const [name, run] of sorted) runs.set(name, run);
}

async function refresh() {
  try {
    const response = await fetch(`api/runs?state=${state}`);
    if (!response.ok) throw new Error(response.statusText);
    const answer = await response.json();
    // The first answer says that there are no logs.
    const changed = !state || Object.keys(answer.runs).length > 0 || answer.names.length !== runs.size;
    take(answer);
    if (changed) {
      list();
      draw();
    }
    get("state").textContent = runs.size ? "" : "No logs here yet.";
  } catch (error) {
    get("state").textContent = error instanceof TypeError ? "The board has been stopped." : `${error.message}`;
  }
  const reading = [...runs.values()].some(run => run.about.read < 1 && !run.about.problem);
  setTimeout(refresh, reading ? READING_INTERVAL : INTERVAL);
}

function zoom(range) {
  settings.zoom = range;
  draw();
}

/** Moves or scales the part of the axis that is shown. */
function move(shift, scale) {
  let [low, high] = settings.zoom ?? [Infinity, -Infinity];
  if (!settings.zoom) {
    for (const run of runs.values()) {
      const [xs] = run.points(settings.x, settings.x);
      if (!run.visible || !xs.length) continue;
      low = Math.min(low, xs[0]);
      high = Math.max(high, xs[xs.length - 1]);
    }
  }
  if (!(low < high)) return;
  const middle = (low + high) / 2 + shift * (high - low), half = ((high - low) / 2) * scale;
  zoom([middle - half, middle + half]);
}

function choose(name) {
  view = name;
  for (const one of VIEWS) {
    get(one).hidden = one !== name;
    get(`tab-${one}`).setAttribute("aria-selected", String(one === name));
    get(`tab-${one}`).tabIndex = one === name ? 0 : -1;
  }
  draw();
}

function showAll(visible) {
  for (const run of filtered()) run.visible = visible;
  list();
  draw();
}

function setAxis(axis) {
  settings.x = get("x").value = axis;
  zoom(null);
}

function setSmoothing(value) {
  settings.smoothing = Math.min(Math.max(value, 0), 0.99);
  get("smoothing").value = settings.smoothing;
  get("smoothing-value").textContent = String(Number(settings.smoothing.toFixed(2)));
  draw();
}

function setLogarithmic(on) {
  settings.logarithmic = get("logarithmic").checked = on;
  draw();
}

const KEYS = {
  "/": () => get("filter").focus(),
  "?": () => get("help").showModal(),
  x: () => setAxis(AXES[(AXES.indexOf(settings.x) + 1) % AXES.length]),
  l: () => setLogarithmic(!settings.logarithmic),
  s: () => setSmoothing(settings.smoothing + 0.1),
  S: () => setSmoothing(settings.smoothing - 0.1),
  a: () => showAll(true),
  n: () => showAll(false),
  ArrowLeft: () => move(-0.25, 1),
  ArrowRight: () => move(0.25, 1),
  "+": () => move(0, 0.5),
  "-": () => move(0, 2),
  0: () => zoom(null),
};
VIEWS.forEach((name, i) => {
  KEYS[i + 1] = () => {
    choose(name);
    // The Tab key goes on from the view that was chosen.
    get(`tab-${name}`).focus();
  };
});

document.addEventListener("keydown", event => {
  if (event.key === "Escape" && document.activeElement) document.activeElement.blur();
  const field = event.target.closest("input:not([type=checkbox], [type=range]), select, dialog, textarea");
  if (field || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("#runs") && moveInList(event.target, event.key)) return event.preventDefault();
  // A table that is wider than the page scrolls by the arrow keys, and a slider moves.
  if (event.target.closest(".scroll, [type=range]") && event.key.startsWith("Arrow")) return;
  if (event.target.getAttribute("role") === "tab" && event.key.startsWith("Arrow")) {
    const next = (VIEWS.indexOf(view) + (event.key === "ArrowRight" ? 1 : VIEWS.length - 1)) % VIEWS.length;
    choose(VIEWS[next]);
    get(`tab-${view}`).focus();
  } else if (Object.hasOwn(KEYS, event.key)) {
    KEYS[event.key]();
  } else {
    return;
  }
  event.preventDefault();
});

get("x").onchange = () => setAxis(get("x").value);
get("smoothing").oninput = () => setSmoothing(Number(get("smoothing").value));
get("logarithmic").onchange = () => setLogarithmic(get("logarithmic").checked);
get("reset-zoom").onclick = () => zoom(null);
get("filter").oninput = () => {
  list();
  draw();
};
get("filter-charts").oninput = get("differences").onchange = draw;
get("show-all").onclick = () => showAll(true);
get("show-none").onclick = () => showAll(false);
get("help-button").onclick = () => get("help").showModal();
for (const name of VIEWS) get(`tab-${name}`).onclick = () => choose(name);

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const setTheme = () => {
  settings.theme = dark.matches ? "dark" : "light";
  draw();
};
dark.onchange = setTheme;
setTheme();
choose(view);
refresh();
