// SPDX-License-Identifier: Apache-2.0
// node as a reader of requests and of ClientHellos: each is a line of JSON on standard output.
//
//	node reader.js ADDRESS PLAIN LAX TLS HELLO KEY CERTIFICATE
//
// Four ports: HTTP, HTTP read as laxly as node can, HTTPS (also HTTP/2), and one where only the
// name of the handshake matters.
'use strict';
const fs = require('fs');
const http = require('http');
const http2 = require('http2');
const tls = require('tls');
const [address, plain, lax, secure, hello, key, cert] = process.argv.slice(2);

function say(what) {
	fs.writeSync(1, JSON.stringify(what) + '\n');
}

function path(target) {
	try {
		return new URL(target, 'http://' + 'same.open.test').pathname;
	} catch (e) {
		return null;
	}
}

function host(target, field) {
	try {
		// An absolute target counts for more than the field (RFC 9112, 3.2.2).
		return new URL(/^[a-z][a-z+.-]*:/i.test(target) ? target : 'http://' + field).hostname;
	} catch (e) {
		return field === undefined ? null : field;
	}
}

function reader(name) {
	return (req, res) => {
		const fields = req.rawHeaders;
		const said = { reader: name, method: req.method, target: req.url, path: path(req.url), fields };
		const h = req.headers;
		said.hosts = [host(req.url, h[':authority'] === undefined ? h.host : h[':authority'])];
		if (h.host !== undefined)
			said.hosts.push(host('', h.host));
		req.on('data', () => {});
		req.on('error', () => {});
		req.on('end', () => {
			said.trailers = req.rawTrailers || [];
			say(said);
			res.end('read\n');
		});
	};
}

const quiet = { key: fs.readFileSync(key), cert: fs.readFileSync(cert) };
const servers = [
	http.createServer(reader('node')).listen(+plain, address),
	http.createServer({ insecureHTTPParser: true, requireHostHeader: false }, reader('node, lax')).listen(+lax, address),
	http2.createSecureServer({ ...quiet, allowHTTP1: true }, reader('node, TLS')).listen(+secure, address),
	// A curve that no client guesses: each is asked for a second hello.
	tls.createServer({ ...quiet, ecdhCurve: 'P-521', SNICallback: (name, done) => {
		say({ reader: 'node', name });
		done(null, null);
	} }, (s) => s.end()).listen(+hello, address),
];
for (const s of servers) {
	s.on('clientError', (e, socket) => socket.destroy());
	s.on('tlsClientError', () => {});
}
Promise.all(servers.map((s) => new Promise((done) => s.on('listening', done)))).then(() => say({ ready: true }));
