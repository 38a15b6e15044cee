/* SPDX-License-Identifier: BSD-3-Clause */
/* Below a table or a picture that does not fit, words, because a telephone shows no scroll bar. */
"use strict";
document.querySelectorAll(".wide").forEach(box => {
	const words = document.createElement("p");
	words.className = "note";
	words.hidden = true;
	words.textContent = box.querySelector("table") ? "More columns are to the right: scroll the table. \u2192" : "More is to the right: scroll. \u2192";
	box.after(words);
	new ResizeObserver(() => { words.hidden = box.scrollWidth <= box.clientWidth + 1; }).observe(box);
});
