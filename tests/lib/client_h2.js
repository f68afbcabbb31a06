// SPDX-License-Identifier: Apache-2.0
// node's own HTTP/2 client.  It offers nothing but h2, and finds the CA where node finds it.
//
//	node client_h2.js ORIGIN JOBS
//
// JOBS is a list in JSON, each {path, method, headers, body, repeat, pieces, wait}.  All of
// them run at the same time on one connection; the answers are printed as a list of
// {status, headers, body, trailers, interim, times, error, ms}.
'use strict';
const http2 = require('http2');
const [origin, text] = process.argv.slice(2);
const began = Date.now();
const session = http2.connect(origin, { settings: { enablePush: true } });
let failure = null;

session.on('error', (e) => { failure = e.code || e.message; });
session.on('stream', (s) => { s.close(); failure = 'pushed'; });

function one(job, out) {
	return new Promise((done) => {
		Object.assign(out, { interim: [], times: [], body: '' });
		const finish = () => { if (out.error === 'never answered') delete out.error; out.ms = Date.now() - began; done(); };
		let s;
		try {
			s = session.request({ ':path': job.path, ':method': job.method || 'GET', ...job.headers },
				{ endStream: job.body === undefined && !job.pieces });
		} catch (e) {
			out.error = e.code || e.message;
			return finish();
		}
		s.setTimeout(20000, () => s.close());
		s.on('headers', (h) => out.interim.push(h[':status']));
		s.on('response', (h) => { out.status = h[':status']; out.headers = { ...h }; });
		s.on('trailers', (t) => { out.trailers = { ...t }; });
		s.on('data', (d) => {
			out.times.push(Date.now() - began);
			out.length = (out.length || 0) + d.length;
			if (out.body.length < 4096)
				out.body += d.toString('latin1');
		});
		s.on('error', (e) => { out.error = e.code || e.message; });
		s.on('close', () => { out.code = s.rstCode; finish(); });
		if (job.pieces) { // each is sent when the one before has come back
			let at = 0;
			const next = () => (at < job.pieces.length ? s.write(job.pieces[at++]) : s.end());
			s.on('data', next);
			next();
		} else if (job.body !== undefined) {
			s.end(Buffer.from(job.body.repeat(job.repeat || 1)));
		}
	});
}

const jobs = JSON.parse(text), answers = jobs.map(() => ({ error: 'never answered' }));

function say() {
	console.log(JSON.stringify({ answers, failure }));
	session.destroy();
}

Promise.all(jobs.map((j, n) => new Promise((r) => setTimeout(() => one(j, answers[n]).then(r), j.wait || 0))))
	.then(say);
setTimeout(() => { say(); process.exit(1); }, 30000).unref();
