// SPDX-License-Identifier: BSD-3-Clause
// Run operations of an OpenAPI document: drive.mjs DOCUMENT URL. A line of standard input is {"operation": ..., "body": ...}, and one of
// standard output its {"status": ..., "data": ...}. The data of a file are {"type": ..., "base64": ...}.
import fs from "node:fs";
import readline from "node:readline";
import { OpenAPIClientAxios } from "openapi-client-axios";

const [document, url] = process.argv.slice(2);
const api = new OpenAPIClientAxios({
	definition: JSON.parse(fs.readFileSync(document, "utf-8")),
	withServer: { url },
	axiosConfigDefaults: { proxy: false, validateStatus: () => true },
});
const client = await api.init();
for await (const line of readline.createInterface({ input: process.stdin })) {
	const { operation, body } = JSON.parse(line);
	const file = operation === "get_capture";
	const reply = await client[operation](null, body, file ? { responseType: "arraybuffer" } : {});
	const data = file ? { type: reply.headers["content-type"], base64: Buffer.from(reply.data).toString("base64") } : reply.data;
	process.stdout.write(JSON.stringify({ status: reply.status, data }) + "\n");
}
