// The theme puts the buttons of each block of code into a <nav>. A screen reader would list them all
// as places of the page, without names. They are buttons in the text, and no more.
"use strict";

const mute = () => {
  for (const nav of document.querySelectorAll("nav.md-code__nav:not([role])")) nav.setAttribute("role", "none");
};

new MutationObserver(mute).observe(document.body, { childList: true, subtree: true });
mute();
