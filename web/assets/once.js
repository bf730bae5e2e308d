// @ts-check
// A question is answered once: the second click of two would be told that it is
// over, and the browser would go by that.
'use strict';

for (const form of document.forms) {
	let sent = false;
	form.addEventListener('submit', (event) => {
		if (sent) event.preventDefault();
		sent = true;
	});
}
// Coming back to the page, the browser shows it as it was left.
window.addEventListener('pageshow', (event) => {
	if (event.persisted) location.reload();
});
