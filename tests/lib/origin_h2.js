// SPDX-License-Identifier: Apache-2.0
// An origin that speaks HTTP/2, and tells every request that reached it as a line of JSON.
//
//	node origin_h2.js ADDRESS PORT CERTIFICATE KEY LOG h2|both
//
// "both" speaks HTTP/1.1 too, with who offers nothing else.
'use strict';
const crypto = require('crypto'), fs = require('fs'), http = require('http'), http2 = require('http2');
const tls = require('tls');
const [address, port, cert, key, log, mode] = process.argv.slice(2);
const block = Buffer.alloc(1 << 16, 'a brown fox and no other');

function note(entry) {
	fs.appendFileSync(log, JSON.stringify(entry) + '\n');
}

function big(stream, size) {
	const more = () => {
		while (size > 0) {
			const piece = block.subarray(0, Math.min(size, block.length));
			size -= piece.length;
			if (!stream.write(piece))
				return stream.once('drain', more);
		}
		stream.end();
	};
	more();
}

// path -> (stream, headers): those that need to be more than an echo of the request
const special = {
	'/echo': (s) => { s.respond({ ':status': 200 }); s.pipe(s); },
	'/hints': (s) => {
		s.additionalHeaders({ ':status': 103, link: '</style>; rel=preload' });
		s.respond({ ':status': 200 });
		s.end('hinted');
	},
	'/trailers': (s) => {
		s.respond({ ':status': 200 }, { waitForTrailers: true });
		s.on('wantTrailers', () => s.sendTrailers({ 'x-sum': '42' }));
		s.end('body');
	},
	'/ticks': (s) => {
		s.respond({ ':status': 200, 'content-type': 'text/event-stream' });
		let n = 0;
		const timer = setInterval(() => {
			s.write(`data: ${n}\n\n`);
			if (++n === 5) { clearInterval(timer); s.end(); }
		}, 200);
		s.on('close', () => clearInterval(timer));
	},
	'/early': (s) => { s.respond({ ':status': 413 }); s.end('too large'); s.resume(); },
	'/empty': (s) => { s.respond({ ':status': 204 }, { endStream: true }); },
	'/half': (s) => { s.respond({ ':status': 200 }); s.write('half'); const session = s.session; setTimeout(() => session.destroy(), 100); },
	'/short': (s) => { s.respond({ ':status': 200, 'content-length': 10 }); s.end('short'); },
	'/refuse': (s) => { s.close(7); },
	'/goaway': (s) => { s.respond({ ':status': 200 }); s.end('leaving'); s.session.close(); },
	'/hang-up': (s) => { s.respond({ ':status': 200 }); s.end('gone'); s.on('close', () => setTimeout(() => s.session && s.session.destroy(), 50)); },
	'/push': (s) => {
		let pushed = false;
		try { s.pushStream({ ':path': '/pushed' }, (e, p) => { pushed = !e; if (!e) { p.respond({ ':status': 200 }); p.end('x'); } }); } catch (e) { pushed = false; }
		s.respond({ ':status': 200 });
		s.end(`push allowed: ${s.pushAllowed} ${pushed}`);
	},
	'/cookies': (s, h) => { s.respond({ ':status': 200 }); s.end(String(h.cookie)); },
	// What it was given as a credential it gives back: in a field, in the body byte by byte, in a trailer.
	'/told': (s, h) => {
		s.respond({ ':status': 200, 'x-told': h.authorization }, { waitForTrailers: true });
		s.on('wantTrailers', () => s.sendTrailers({ 'x-told-again': h.authorization }));
		for (const c of h.authorization)
			s.write(c);
		s.end();
	},
	'/many': (s) => {
		const h = { ':status': 200 };
		for (let i = 0; i < 110; i++)
			h['x-' + i] = 'v'.repeat(50);
		s.respond(h);
		s.end('many');
	},
};

function onStream(s, headers) {
	const path = headers[':path'].split('?')[0], name = headers[':authority'];
	const hash = crypto.createHash('sha1');
	let length = 0;

	s.on('error', () => {});
	note({ proto: 'h2', method: headers[':method'], path: headers[':path'], authority: name,
		headers: Object.fromEntries(Object.entries(headers)) });
	if (special[path])
		return special[path](s, headers);
	if (path.startsWith('/big/')) {
		s.respond({ ':status': 200 });
		return big(s, Number(path.slice(5)));
	}
	if (path.startsWith('/long/')) { // six seconds
		s.respond({ ':status': 200 });
		let n = 0;
		const timer = setInterval(() => {
			s.write('.');
			if (++n === 60) { clearInterval(timer); s.end('all'); }
		}, 100);
		return s.on('close', () => clearInterval(timer));
	}
	if (headers[':method'] === 'HEAD') {
		s.respond({ ':status': 200, 'content-length': 1234 }, { endStream: true });
		return;
	}
	s.on('data', (piece) => { hash.update(piece); length += piece.length; });
	s.on('trailers', (t) => note({ trailers: Object.fromEntries(Object.entries(t)) }));
	s.on('end', () => {
		if (s.destroyed)
			return;
		s.respond({ ':status': 200, 'x-proto': 'h2' });
		s.end(headers[':method'] === 'GET' ? `${name} ${headers[':path']}\n`
			: `${length} ${hash.digest('hex')}\n`);
	});
}

const h2 = http2.createServer({ settings: { maxConcurrentStreams: 100 } });
h2.on('stream', onStream);
h2.on('session', (session) => session.on('error', () => {}));
const h1 = http.createServer((request, response) => {
	note({ proto: 'http/1.1', method: request.method, path: request.url, authority: request.headers.host });
	response.setHeader('x-proto', 'http/1.1');
	response.end(`${request.headers.host} ${request.url}\n`);
});
tls.createServer({
	cert: fs.readFileSync(cert), key: fs.readFileSync(key),
	ALPNProtocols: mode === 'both' ? ['h2', 'http/1.1'] : ['h2'],
}, (socket) => {
	socket.on('error', () => {});
	(socket.alpnProtocol === 'h2' ? h2 : h1).emit('connection', socket);
}).on('tlsClientError', () => {}).listen(Number(port), address, () => console.log('serving'));
