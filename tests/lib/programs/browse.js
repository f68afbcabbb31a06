// SPDX-License-Identifier: Apache-2.0
// A headless Chromium, driven by Playwright; a client of tests/scenario/clients.
//
//	node browse.js FOLDER-OF-PLAYWRIGHT CHROMIUM HASH HOST [OTHER]
//
// Opens the page of HOST by HTTP and by HTTPS (HASH is of the one key that is trusted
// there) and prints its title and what its script has fetched; then what became of an
// image of OTHER.  Its own sandbox is off, as Playwright has it unless told: it wants
// namespaces, and the box gives none.
'use strict';
const [folder, executablePath, hash, host, other] = process.argv.slice(2);
const { chromium } = require(folder);

(async () => {
	const browser = await chromium.launch({
		executablePath, args: ['--ignore-certificate-errors-spki-list=' + hash],
	});
	const page = await browser.newPage();
	page.setDefaultTimeout(15000);
	for (const scheme of ['http', 'https']) {
		await page.goto(`${scheme}://${host}/page/`);
		await page.waitForSelector('#fetched');
		console.log(scheme, await page.title(), (await page.textContent('#fetched')).trim());
	}
	if (other) {
		const failed = page.waitForEvent('requestfailed');
		await page.evaluate(o => { new Image().src = `http://${o}/image.png`; }, other);
		console.log('image', (await failed).failure().errorText);
	}
	const picture = await page.screenshot();
	console.log('picture', picture.length > 1000 && picture.subarray(1, 4).toString());
	await browser.close();
})().catch(error => {
	console.log(error.message.split('\n')[0]);
	process.exit(1);
});
