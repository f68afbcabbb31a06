// SPDX-License-Identifier: Apache-2.0
// Reads ExportLogsServiceRequests, one in a line, through the classes that were generated from
// OpenTelemetry's own protobuf files: object, wire, object.  Prints what came out, one in a line.
//
//	node otlp_decode.js MODULES <requests
'use strict';
const root = require(`${process.argv[2]}/@opentelemetry/otlp-transformer/build/src/generated/root.js`);
const Request = root.opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest;

for (const line of require('fs').readFileSync(0, 'utf8').split('\n')) {
	if (!line)
		continue;
	const message = Request.fromObject(JSON.parse(line));
	const wrong = Request.verify(message);
	if (wrong)
		throw new Error(wrong);
	const decoded = Request.decode(Request.encode(message).finish());
	console.log(JSON.stringify(Request.toObject(decoded, { longs: String, bytes: String })));
}
