/* SPDX-License-Identifier: BSD-3-Clause */
/* Below a table or a picture that does not fit, words, because a telephone shows no scroll bar. */
"use strict";
document.querySelectorAll(".wide").forEach(box => {
	const words = document.createElement("p"), table = box.querySelector("table");
	words.className = "note";
	if (box.parentElement.classList.contains("side")) { // the words are below their table, not a box beside it
		const noted = document.createElement("div");
		noted.className = "noted";
		box.replaceWith(noted);
		noted.append(box);
	}
	box.after(words);
	const show = () => {
		const bar = parseFloat(getComputedStyle(box).paddingRight); // the scroll bar's place, which has no columns
		const right = box.scrollWidth - bar > box.clientWidth + 1, below = box.classList.contains("tall") && box.scrollHeight > box.clientHeight + 1;
		const more = [right ? `${table ? "columns" : ""} to the right` : "", below ? "rows below" : ""].filter(Boolean).join(", ");
		words.hidden = !more;
		box.classList.toggle("cut", right);
		words.textContent = `More ${more.trim()}: scroll${table ? " the table" : ""}. ${right ? "\u2192" : "\u2193"}`;
	};
	const seen = new ResizeObserver(show);
	[box, box.firstElementChild].forEach(element => seen.observe(element));
});
