// The table of runs, their pictures, and the details of each.

import { bytes, csv, inOrder, isMain, keysOf, number, text, time } from "./data.js";
import { get, keepingFocus, make, save } from "./page.js";

const sorting = { column: "run", descending: false };

/** Columns of the table: a name, the value of a run, and its text. */
function columnsOf(runs) {
  const last = key => ({ name: key, value: run => run.last(key), show: number });
  const columns = [{ name: "run", value: run => run.name, show: String }, last("epoch"), last("iteration")];
  columns.push({ name: "time", value: run => run.last("elapsed_time"), show: value => (value === undefined ? "" : time(value)) });
  const values = keysOf(runs).filter(key => !key.includes("/percentile/")).sort(inOrder);
  columns.push(...values.filter(isMain).map(last));
  const names = new Set(runs.flatMap(run => Object.keys(run.about.hyperparameters)));
  for (const name of names) columns.push({ name, value: run => run.about.hyperparameters[name], show: text, setting: true });
  const resource = (name, key, show) => ({ name, value: run => run.about.resources[key], show: value => (value === undefined ? "" : show(value)) });
  columns.push(resource("peak memory", "peak_memory_bytes", bytes), resource("processor seconds", "cpu_seconds", number), resource("host", "host", text));
  columns.push({ name: "on disk", value: run => run.about.snapshots.reduce((sum, file) => sum + file.bytes, 0), show: bytes });
  columns.push(...values.filter(key => !isMain(key)).map(last));
  return columns.filter(({ value }) => runs.some(run => value(run) !== undefined));
}

function compared(a, b) {
  if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
  if (typeof a === "number" && typeof b === "number") return a - b;
  // What is no number is worse than any number.
  if (a === null || b === null) return (a === null) - (b === null);
  return text(a).localeCompare(text(b), undefined, { numeric: true });
}

/** Shows the runs that are visible in a table. */
export function showTable(runs) {
  keepingFocus(() => drawTable(runs));
}

function drawTable(runs) {
  let columns = columnsOf(runs);
  const differ = new Map(columns.map(column => [column, new Set(runs.map(run => column.show(column.value(run)))).size > 1]));
  if (get("differences").checked) columns = columns.filter(column => column.name === "run" || differ.get(column));
  const by = columns.find(column => column.name === sorting.column) ?? columns[0];
  const sorted = [...runs].sort((a, b) => (sorting.descending ? -1 : 1) * compared(by?.value(a), by?.value(b)));
  const table = get("table");
  table.replaceChildren();
  if (!columns.length) return;
  const head = make("tr", undefined, make("thead", undefined, table));
  for (const column of columns) {
    const cell = make("th", undefined, head);
    cell.scope = "col";
    const sort = column === by ? (sorting.descending ? "descending" : "ascending") : "none";
    cell.setAttribute("aria-sort", sort);
    const sorter = make("button", column.name + { ascending: " \u25b2", descending: " \u25bc", none: "" }[sort], cell);
    sorter.dataset.focus = `column ${column.name}`;
    sorter.onclick = () => {
      sorting.descending = column.name === sorting.column && !sorting.descending;
      sorting.column = column.name;
      showTable(runs);
    };
  }
  const body = make("tbody", undefined, table);
  for (const run of sorted) {
    const row = make("tr", undefined, body);
    for (const column of columns) {
      const value = column.value(run), cell = make("td", column.show(value), row);
      if (typeof value === "number" || value === null) cell.classList.add("number");
      // The settings that differ between the runs are what one looks for.
      if (column.setting && differ.get(column)) cell.classList.add("differs");
    }
  }
  get("save-table").onclick = () => save("runs.csv", csv([columns.map(column => column.name), ...sorted.map(run => columns.map(column => plain(column.value(run))))]));
  const poor = runs.some(run => !run.about.resources.cpu_seconds);
  get("hint").textContent = poor ? "Runs with LogReport(about=True) show the hyperparameters of their optimizers, memory and processor time here." : "";
}

function plain(value) {
  return value === null ? "nan" : typeof value === "object" ? JSON.stringify(value) : value;
}

function address(run, picture) {
  const parts = [...(run.name === "." ? [] : run.name.split("/")), picture];
  return `files/${parts.map(encodeURIComponent).join("/")}?${run.about.modified}`;
}

/** Pictures whose names differ in their last number only are one picture by step. */
function stepsOf(pictures) {
  const groups = new Map();
  for (const name of pictures) {
    const step = name.match(/^(.*?)(\d+)(\D*)$/);
    const key = step ? `${step[1]}*${step[3]}` : name;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push([step ? Number(step[2]) : 0, name]);
  }
  for (const steps of groups.values()) steps.sort((a, b) => a[0] - b[0]);
  return groups;
}

// The steps that the user has chosen, by run and picture.
const chosen = new Map();

/** Shows the pictures of runs; those of several steps with a slider. */
export function showPictures(runs) {
  keepingFocus(() => drawPictures(runs));
}

function drawPictures(runs) {
  const place = get("pictures");
  place.replaceChildren();
  const grid = make("div", undefined, place);
  grid.className = "grid";
  for (const run of runs) {
    for (const [group, steps] of stepsOf(run.about.pictures)) {
      const figure = make("figure", undefined, grid), caption = make("figcaption", undefined, figure), title = make("h3", undefined, caption);
      const image = make("img", undefined, figure), id = `${run.name}/${group}`;
      image.loading = "lazy";
      const show = index => {
        const [, name] = steps[index];
        title.textContent = `${run.name}/${name}`;
        image.alt = name;
        image.src = address(run, name);
      };
      const last = steps.length - 1, index = Math.min(chosen.get(id) ?? last, last);
      show(index);
      if (!last) continue;
      const slider = make("input", undefined, figure);
      Object.assign(slider, { type: "range", min: 0, max: last, value: index });
      slider.setAttribute("aria-label", `Step of ${id}`);
      slider.dataset.focus = `picture ${id}`;
      slider.oninput = () => {
        chosen.set(id, Number(slider.value));
        show(Number(slider.value));
      };
    }
  }
  if (!grid.children.length) make("p", "The runs that are shown have no pictures.", place).className = "quiet";
}

/** Shows settings, resources and files of each run as text. */
export function showDetails(runs) {
  keepingFocus(() => drawDetails(runs));
}

function drawDetails(runs) {
  const place = get("details"), open = new Set([...place.querySelectorAll("details[open]")].map(block => block.dataset.run));
  place.replaceChildren();
  for (const run of runs) {
    const block = make("details", undefined, place), { hyperparameters, resources, snapshots, modified, entries, problem } = run.about;
    block.dataset.run = run.name;
    block.open = open.has(run.name) || runs.length <= 3;
    make("summary", run.name, block).dataset.focus = `details ${run.name}`;
    if (problem) make("p", problem, block).className = "problem";
    make("p", `${entries} entries, the last of ${new Date(modified * 1000).toLocaleString()}`, block).className = "quiet";
    make("h3", "Settings", block);
    make("pre", JSON.stringify(hyperparameters, undefined, 2), block);
    make("h3", "Resources", block);
    make("pre", JSON.stringify(resources, undefined, 2), block);
    make("h3", "Snapshots", block);
    make("pre", snapshots.map(file => `${file.name}  ${bytes(file.bytes)}`).join("\n") || "none", block);
  }
  if (!runs.length) make("p", "No run is shown.", place).className = "quiet";
}
