// Elements of the page. Texts come from files of runs: they are never read as HTML.

export const get = id => document.getElementById(id);

export function make(tag, content, parent) {
  const element = document.createElement(tag);
  if (content !== undefined) element.textContent = content;
  if (parent) parent.append(element);
  return element;
}

export function button(content, label, parent, action) {
  const element = make("button", content, parent);
  element.title = label;
  element.setAttribute("aria-label", label);
  element.onclick = action;
  return element;
}

/** Calls a function that draws elements anew, and gives the focus to the one that stands for the element that had it. */
export function keepingFocus(draw) {
  const key = document.activeElement?.dataset.focus;
  draw();
  // An element that is still there has lost the focus if it was taken out for a moment.
  if (key && document.activeElement?.dataset.focus !== key) {
    document.querySelector(`[data-focus="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
  }
}

/** Lets the user save a text, a list of texts, or a blob as a file. */
export function save(name, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content].flat()));
  link.download = name.replaceAll("/", "_");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** The expression of a filter: a regular expression, or the plain text if it is none. */
export function pattern(content) {
  try {
    return new RegExp(content, "i");
  } catch {
    return new RegExp(content.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
  }
}
