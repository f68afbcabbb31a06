// SPDX-License-Identifier: Apache-2.0
// A headless Chromium outside that looks at a development server in a box; for tests/scenario/ports.
//
//	node reload.js FOLDER-OF-PLAYWRIGHT CHROMIUM ADDRESS
//
// Prints what the page says, and each time that it says something else: the new word, "kept" when the
// page itself stayed as it was and "anew" when it was loaded again, and how many WebSockets there were.
// It ends when the word is "end".
'use strict';
const [folder, executablePath, address] = process.argv.slice(2);
const { chromium } = require(folder);

(async () => {
	const browser = await chromium.launch({ executablePath });
	const page = await browser.newPage();
	let sockets = 0, word = '';
	page.setDefaultTimeout(30000);
	page.on('websocket', () => sockets++);
	await page.goto(address);
	while (word !== 'end') {
		await page.waitForFunction(
			old => (document.querySelector('#app')?.textContent || old) !== old, word, { polling: 50 });
		word = await page.textContent('#app');
		console.log(word, await page.evaluate(() => window.kept ? 'kept' : 'anew'), sockets);
		await page.evaluate(() => { window.kept = true; });
	}
	await browser.close();
})().catch(error => {
	console.log(error.message.split('\n')[0]);
	process.exit(1);
});
