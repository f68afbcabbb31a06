// SPDX-License-Identifier: Apache-2.0
// A package registry of one package, for npm.
//
//	node registry.js ADDRESS PORT HOST TARBALL
//
// HOST is the name that clients use; the package's document says where its tarball is by it.
'use strict';
const crypto = require('crypto'), fs = require('fs'), http = require('http');
const [address, port, host, file] = process.argv.slice(2);
const tarball = fs.readFileSync(file);
const at = '/tiny/-/tiny-1.2.3.tgz';
const version = {
	name: 'tiny', version: '1.2.3', main: 'index.js', description: 'served from next door',
	dist: {
		tarball: `http://${host}:${port}${at}`,
		shasum: crypto.createHash('sha1').update(tarball).digest('hex'),
		integrity: 'sha512-' + crypto.createHash('sha512').update(tarball).digest('base64'),
	},
};
const document = JSON.stringify({
	name: 'tiny', 'dist-tags': { latest: '1.2.3' }, versions: { '1.2.3': version },
});

http.createServer((request, response) => {
	if (request.url === '/tiny') {
		response.setHeader('Content-Type', 'application/json');
		response.end(document);
	} else if (request.url === at) {
		response.end(tarball);
	} else {
		response.statusCode = 404;
		response.end('{}');
	}
}).listen(Number(port), address, () => console.log('serving'));
