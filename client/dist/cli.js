#!/usr/bin/env node
import { parseArgs } from "node:util";
import { access, chmod, mkdir, readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { setTimeout as setTimeout$1 } from "node:timers/promises";
import { homedir, hostname } from "node:os";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
// ../node_modules/openapi-fetch/dist/index.mjs
const PATH_PARAM_RE = /\{[^{}]+\}/g;
const supportsRequestInitExt = () => {
	return typeof process === "object" && Number.parseInt(process?.versions?.node?.substring(0, 2)) >= 18 && process.versions.undici;
};
function randomID() {
	return Math.random().toString(36).slice(2, 11);
}
function createClient$1(clientOptions) {
	let { baseUrl = "", Request: CustomRequest = globalThis.Request, fetch: baseFetch = globalThis.fetch, querySerializer: globalQuerySerializer, bodySerializer: globalBodySerializer, pathSerializer: globalPathSerializer, headers: baseHeaders, requestInitExt = void 0, ...baseOptions } = { ...clientOptions };
	requestInitExt = supportsRequestInitExt() ? requestInitExt : void 0;
	baseUrl = removeTrailingSlash(baseUrl);
	const globalMiddlewares = [];
	async function coreFetch(schemaPath, fetchOptions) {
		const { baseUrl: localBaseUrl, fetch = baseFetch, Request = CustomRequest, headers, params = {}, parseAs = "json", querySerializer: requestQuerySerializer, bodySerializer = globalBodySerializer ?? defaultBodySerializer, pathSerializer: requestPathSerializer, body, middleware: requestMiddlewares = [], ...init } = fetchOptions || {};
		let finalBaseUrl = baseUrl;
		if (localBaseUrl) finalBaseUrl = removeTrailingSlash(localBaseUrl) ?? baseUrl;
		let querySerializer = typeof globalQuerySerializer === "function" ? globalQuerySerializer : createQuerySerializer(globalQuerySerializer);
		if (requestQuerySerializer) querySerializer = typeof requestQuerySerializer === "function" ? requestQuerySerializer : createQuerySerializer({
			...typeof globalQuerySerializer === "object" ? globalQuerySerializer : {},
			...requestQuerySerializer
		});
		const pathSerializer = requestPathSerializer || globalPathSerializer || defaultPathSerializer;
		const serializedBody = body === void 0 ? void 0 : bodySerializer(body, mergeHeaders(baseHeaders, headers, params.header));
		const finalHeaders = mergeHeaders(serializedBody === void 0 || serializedBody instanceof FormData ? {} : { "Content-Type": "application/json" }, baseHeaders, headers, params.header);
		const finalMiddlewares = [...globalMiddlewares, ...requestMiddlewares];
		const requestInit = {
			redirect: "follow",
			...baseOptions,
			...init,
			body: serializedBody,
			headers: finalHeaders
		};
		let id;
		let options;
		let request = new Request(createFinalURL(schemaPath, {
			baseUrl: finalBaseUrl,
			params,
			querySerializer,
			pathSerializer
		}), requestInit);
		let response;
		for (const key in init) if (!(key in request)) request[key] = init[key];
		if (finalMiddlewares.length) {
			id = randomID();
			options = Object.freeze({
				baseUrl: finalBaseUrl,
				fetch,
				parseAs,
				querySerializer,
				bodySerializer,
				pathSerializer
			});
			for (const m of finalMiddlewares) if (m && typeof m === "object" && typeof m.onRequest === "function") {
				const result = await m.onRequest({
					request,
					schemaPath,
					params,
					options,
					id
				});
				if (result) {
					if (result instanceof Request) request = result;
					else if (result instanceof Response) {
						response = result;
						break;
					} else throw new Error("onRequest: must return new Request() or Response() when modifying the request");
				}
			}
		}
		if (!response) {
			try {
				response = await fetch(request, requestInitExt);
			} catch (error2) {
				let errorAfterMiddleware = error2;
				if (finalMiddlewares.length) for (let i = finalMiddlewares.length - 1; i >= 0; i--) {
					const m = finalMiddlewares[i];
					if (m && typeof m === "object" && typeof m.onError === "function") {
						const result = await m.onError({
							request,
							error: errorAfterMiddleware,
							schemaPath,
							params,
							options,
							id
						});
						if (result) {
							if (result instanceof Response) {
								errorAfterMiddleware = void 0;
								response = result;
								break;
							}
							if (result instanceof Error) {
								errorAfterMiddleware = result;
								continue;
							}
							throw new Error("onError: must return new Response() or instance of Error");
						}
					}
				}
				if (errorAfterMiddleware) throw errorAfterMiddleware;
			}
			if (finalMiddlewares.length) for (let i = finalMiddlewares.length - 1; i >= 0; i--) {
				const m = finalMiddlewares[i];
				if (m && typeof m === "object" && typeof m.onResponse === "function") {
					const result = await m.onResponse({
						request,
						response,
						schemaPath,
						params,
						options,
						id
					});
					if (result) {
						if (!(result instanceof Response)) throw new Error("onResponse: must return new Response() when modifying the response");
						response = result;
					}
				}
			}
		}
		const contentLength = response.headers.get("Content-Length");
		if (response.status === 204 || request.method === "HEAD" || contentLength === "0" && !response.headers.get("Transfer-Encoding")?.includes("chunked")) return response.ok ? {
			data: void 0,
			response
		} : {
			error: void 0,
			response
		};
		if (response.ok) {
			const getResponseData = async () => {
				if (parseAs === "stream") return response.body;
				if (parseAs === "json" && !contentLength) {
					const raw = await response.text();
					return raw ? JSON.parse(raw) : void 0;
				}
				return await response[parseAs]();
			};
			return {
				data: await getResponseData(),
				response
			};
		}
		let error = await response.text();
		try {
			error = JSON.parse(error);
		} catch {}
		return {
			error,
			response
		};
	}
	return {
		request(method, url, init) {
			return coreFetch(url, {
				...init,
				method: method.toUpperCase()
			});
		},
		/** Call a GET endpoint */
		GET(url, init) {
			return coreFetch(url, {
				...init,
				method: "GET"
			});
		},
		/** Call a PUT endpoint */
		PUT(url, init) {
			return coreFetch(url, {
				...init,
				method: "PUT"
			});
		},
		/** Call a POST endpoint */
		POST(url, init) {
			return coreFetch(url, {
				...init,
				method: "POST"
			});
		},
		/** Call a DELETE endpoint */
		DELETE(url, init) {
			return coreFetch(url, {
				...init,
				method: "DELETE"
			});
		},
		/** Call a OPTIONS endpoint */
		OPTIONS(url, init) {
			return coreFetch(url, {
				...init,
				method: "OPTIONS"
			});
		},
		/** Call a HEAD endpoint */
		HEAD(url, init) {
			return coreFetch(url, {
				...init,
				method: "HEAD"
			});
		},
		/** Call a PATCH endpoint */
		PATCH(url, init) {
			return coreFetch(url, {
				...init,
				method: "PATCH"
			});
		},
		/** Call a TRACE endpoint */
		TRACE(url, init) {
			return coreFetch(url, {
				...init,
				method: "TRACE"
			});
		},
		/** Register middleware */
		use(...middleware) {
			for (const m of middleware) {
				if (!m) continue;
				if (typeof m !== "object" || !("onRequest" in m || "onResponse" in m || "onError" in m)) throw new Error("Middleware must be an object with one of `onRequest()`, `onResponse() or `onError()`");
				globalMiddlewares.push(m);
			}
		},
		/** Unregister middleware */
		eject(...middleware) {
			for (const m of middleware) {
				const i = globalMiddlewares.indexOf(m);
				if (i !== -1) globalMiddlewares.splice(i, 1);
			}
		}
	};
}
function serializePrimitiveParam(name, value, options) {
	if (value === void 0 || value === null) return "";
	if (typeof value === "object") throw new Error("Deeply-nested arrays/objects aren’t supported. Provide your own `querySerializer()` to handle these.");
	return `${name}=${options?.allowReserved === true ? value : encodeURIComponent(value)}`;
}
function serializeObjectParam(name, value, options) {
	if (!value || typeof value !== "object") return "";
	const values = [];
	const joiner = {
		simple: ",",
		label: ".",
		matrix: ";"
	}[options.style] || "&";
	if (options.style !== "deepObject" && options.explode === false) {
		for (const k in value) values.push(k, options.allowReserved === true ? value[k] : encodeURIComponent(value[k]));
		const final2 = values.join(",");
		switch (options.style) {
			case "form": return `${name}=${final2}`;
			case "label": return `.${final2}`;
			case "matrix": return `;${name}=${final2}`;
			default: return final2;
		}
	}
	for (const k in value) {
		const finalName = options.style === "deepObject" ? `${name}[${k}]` : k;
		values.push(serializePrimitiveParam(finalName, value[k], options));
	}
	const final = values.join(joiner);
	return options.style === "label" || options.style === "matrix" ? `${joiner}${final}` : final;
}
function serializeArrayParam(name, value, options) {
	if (!Array.isArray(value)) return "";
	if (options.explode === false) {
		const joiner2 = {
			form: ",",
			spaceDelimited: "%20",
			pipeDelimited: "|"
		}[options.style] || ",";
		const final = (options.allowReserved === true ? value : value.map((v) => encodeURIComponent(v))).join(joiner2);
		switch (options.style) {
			case "simple": return final;
			case "label": return `.${final}`;
			case "matrix": return `;${name}=${final}`;
			default: return `${name}=${final}`;
		}
	}
	const joiner = {
		simple: ",",
		label: ".",
		matrix: ";"
	}[options.style] || "&";
	const values = [];
	for (const v of value) if (options.style === "simple" || options.style === "label") values.push(options.allowReserved === true ? v : encodeURIComponent(v));
	else values.push(serializePrimitiveParam(name, v, options));
	return options.style === "label" || options.style === "matrix" ? `${joiner}${values.join(joiner)}` : values.join(joiner);
}
function createQuerySerializer(options) {
	return function querySerializer(queryParams) {
		const search = [];
		if (queryParams && typeof queryParams === "object") for (const name in queryParams) {
			const value = queryParams[name];
			if (value === void 0 || value === null) continue;
			if (Array.isArray(value)) {
				if (value.length === 0) continue;
				search.push(serializeArrayParam(name, value, {
					style: "form",
					explode: true,
					...options?.array,
					allowReserved: options?.allowReserved || false
				}));
				continue;
			}
			if (typeof value === "object") {
				search.push(serializeObjectParam(name, value, {
					style: "deepObject",
					explode: true,
					...options?.object,
					allowReserved: options?.allowReserved || false
				}));
				continue;
			}
			search.push(serializePrimitiveParam(name, value, options));
		}
		return search.join("&");
	};
}
function defaultPathSerializer(pathname, pathParams) {
	let nextURL = pathname;
	for (const match of pathname.match(PATH_PARAM_RE) ?? []) {
		let name = match.substring(1, match.length - 1);
		let explode = false;
		let style = "simple";
		if (name.endsWith("*")) {
			explode = true;
			name = name.substring(0, name.length - 1);
		}
		if (name.startsWith(".")) {
			style = "label";
			name = name.substring(1);
		} else if (name.startsWith(";")) {
			style = "matrix";
			name = name.substring(1);
		}
		if (!pathParams || pathParams[name] === void 0 || pathParams[name] === null) continue;
		const value = pathParams[name];
		if (Array.isArray(value)) {
			nextURL = nextURL.replace(match, serializeArrayParam(name, value, {
				style,
				explode
			}));
			continue;
		}
		if (typeof value === "object") {
			nextURL = nextURL.replace(match, serializeObjectParam(name, value, {
				style,
				explode
			}));
			continue;
		}
		if (style === "matrix") {
			nextURL = nextURL.replace(match, `;${serializePrimitiveParam(name, value)}`);
			continue;
		}
		nextURL = nextURL.replace(match, style === "label" ? `.${encodeURIComponent(value)}` : encodeURIComponent(value));
	}
	return nextURL;
}
function defaultBodySerializer(body, headers) {
	if (body instanceof FormData) return body;
	if (headers) {
		if ((headers.get instanceof Function ? headers.get("Content-Type") ?? headers.get("content-type") : headers["Content-Type"] ?? headers["content-type"]) === "application/x-www-form-urlencoded") return new URLSearchParams(body).toString();
	}
	return JSON.stringify(body);
}
function createFinalURL(pathname, options) {
	let finalURL = `${options.baseUrl}${pathname}`;
	if (options.params?.path) finalURL = options.pathSerializer(finalURL, options.params.path);
	let search = options.querySerializer(options.params.query ?? {});
	if (search.startsWith("?")) search = search.substring(1);
	if (search) finalURL += `?${search}`;
	return finalURL;
}
function mergeHeaders(...allHeaders) {
	const finalHeaders = new Headers();
	for (const h of allHeaders) {
		if (!h || typeof h !== "object") continue;
		const iterator = h instanceof Headers ? h.entries() : Object.entries(h);
		for (const [k, v] of iterator) if (v === null) finalHeaders.delete(k);
		else if (Array.isArray(v)) for (const v2 of v) finalHeaders.append(k, v2);
		else if (v !== void 0) finalHeaders.set(k, v);
	}
	return finalHeaders;
}
function removeTrailingSlash(url) {
	if (url.endsWith("/")) return url.substring(0, url.length - 1);
	return url;
}
// src/create-client.ts
/** Requests with paths, bodies and answers that the compiler checks. */
function createClient({ baseUrl, token, fetch }) {
	const client = createClient$1({
		baseUrl,
		...fetch && { fetch }
	});
	client.use({ onRequest({ request }) {
		const current = token?.();
		if (current !== void 0) request.headers.set("authorization", `Bearer ${current}`);
	} });
	return client;
}
/** A refusal of the service, with its message. */
var ApiError = class extends Error {
	name = "ApiError";
	status;
	/** The members of the request that are wrong, for a 422. */
	fields;
	retryAfterSeconds;
	constructor(status, body, retryAfter = null) {
		const fields = fieldsOf(body);
		super(messageOf(status, body, fields));
		this.status = status;
		this.fields = fields;
		const seconds = retryAfter === null ? NaN : Number(retryAfter);
		this.retryAfterSeconds = Number.isFinite(seconds) ? seconds : void 0;
	}
};
/** The data of an answer; throws `ApiError` if the request was refused. */
async function unwrap(call) {
	const { data, error, response } = await call;
	if (!response.ok) throw new ApiError(response.status, error, response.headers.get("retry-after"));
	return data;
}
/** The refusal in a response whose body has not been read. */
async function refusalOf(response) {
	const body = await response.json().catch(() => void 0);
	return new ApiError(response.status, body, response.headers.get("retry-after"));
}
function messageOf(status, body, fields) {
	const detail = memberOf(body, "detail");
	if (typeof detail === "string") return detail;
	if (fields.length > 0) return fields.map(({ loc, msg }) => `${loc.slice(1).join(".")}: ${msg}`).join("; ");
	return `The service answered with status ${status}.`;
}
function fieldsOf(body) {
	const detail = memberOf(body, "detail");
	if (!Array.isArray(detail)) return [];
	return detail.flatMap((entry) => {
		const loc = memberOf(entry, "loc");
		const msg = memberOf(entry, "msg");
		if (!Array.isArray(loc) || typeof msg !== "string") return [];
		return [{
			loc: loc.filter((part) => typeof part === "string" || typeof part === "number"),
			msg
		}];
	});
}
function memberOf(value, name) {
	return typeof value === "object" && value !== null ? Reflect.get(value, name) : void 0;
}
// cli/command.ts
const textValue = (value) => typeof value === "string" ? value : void 0;
const assistantOption = { assistant: {
	type: "string",
	short: "a",
	value: "NAME",
	help: "name or id; not needed when there is only one"
} };
const jsonOption = { json: {
	type: "boolean",
	help: "print one JSON value"
} };
// cli/failure.ts
/** What a process ends with. `client/README.md` lists them. */
const exitCodes = {
	failed: 1,
	usage: 2,
	login: 3,
	waits: 4,
	unreachable: 5,
	interrupted: 130
};
/** Why a command ended, in one sentence for the person who gave it. */
var Failure = class extends Error {
	name = "Failure";
	code;
	constructor(message, code = exitCodes.failed) {
		super(message);
		this.code = code;
	}
};
const wrongUse = (message) => new Failure(message, exitCodes.usage);
// cli/credentials.ts
const defaultUrl = "http://127.0.0.1:8100";
const { env } = process;
function fileOf() {
	const folder = env["XDG_CONFIG_HOME"] || path.join(homedir(), ".config");
	return path.join(folder, "assistant-platform", "credentials.json");
}
/** `ASSISTANT_URL` and `ASSISTANT_TOKEN` win over what a login has stored; an option wins over both. */
async function targetOf(option) {
	const stored = await read$1();
	const url = serviceUrl(option ?? (env["ASSISTANT_URL"] || void 0) ?? stored.url ?? defaultUrl);
	return {
		url,
		token: env["ASSISTANT_TOKEN"] || stored.tokens[url]
	};
}
async function remember(url, token) {
	const { tokens } = await read$1();
	await write({
		url,
		tokens: {
			...tokens,
			[url]: token
		}
	});
}
async function forget(url) {
	const { url: current, tokens } = await read$1();
	const rest = Object.fromEntries(Object.entries(tokens).filter(([known]) => known !== url));
	if (Object.keys(rest).length === 0) await rm(fileOf(), { force: true });
	else await write({
		tokens: rest,
		...current !== void 0 && current !== url && { url: current }
	});
}
function serviceUrl(text) {
	if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) throw wrongUse(`"${text}" is not an address of a service, such as https://assistants.example.com.`);
	return text.replace(/\/+$/, "");
}
async function read$1() {
	const text = await readFile(fileOf(), "utf8").catch((error) => {
		if (error instanceof Error && "code" in error && error.code === "ENOENT") return "{}";
		throw new Failure(`${fileOf()} cannot be read.`);
	});
	try {
		const value = JSON.parse(text);
		const tokens = Object.entries(value.tokens ?? {}).filter(([, token]) => typeof token === "string");
		return {
			tokens: Object.fromEntries(tokens),
			...typeof value.url === "string" && { url: value.url }
		};
	} catch {
		throw new Failure(`${fileOf()} is damaged: remove it and log in again.`);
	}
}
/** Only the user may read it. It is written beside its place first, so that it is never half there. */
async function write(stored) {
	const file = fileOf();
	await mkdir(path.dirname(file), {
		recursive: true,
		mode: 448
	});
	const fresh = `${file}.${process.pid}`;
	await writeFile(fresh, `${JSON.stringify(stored, void 0, 2)}\n`, { mode: 384 });
	await chmod(fresh, 384);
	await rename(fresh, file);
}
// cli/terminal.ts
/**
* Sequences that steer a terminal (ECMA-48): with parameters, with a text that another sequence ends, and short ones.
* What is not finished is taken as a sequence, too: text that grows keeps its beginning.
*/
const sequences = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c\n]{0,2000}(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?/g;
/** Control characters, except tabs and line ends, and signs that turn the direction of what follows. */
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
/** Text of models and servers as it may be shown: nothing in it steers the terminal. */
const plain = (text) => text.replaceAll("\r\n", "\n").replaceAll(sequences, "").replaceAll(controls, "");
/** The same on one line, for tables and messages. */
const plainLine = (text) => plain(text).replaceAll(/\s+/g, " ").trim();
const out = (text) => void process.stdout.write(text);
const note = (text) => void process.stderr.write(`${text}\n`);
/** A line that the next one replaces; nothing where nobody watches. */
function progress(text) {
	if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}
// cli/service.ts
async function openService(url) {
	const target = await targetOf(url);
	const { token } = target;
	if (token === void 0) throw new Failure(`You are not logged in to ${target.url}: run "assistant login".`, exitCodes.login);
	return {
		...target,
		token,
		api: createClient({
			baseUrl: target.url,
			token: () => token
		})
	};
}
const pageSize = 100;
const maxPages = 100;
/** All assistants of the project of the token. */
async function listAssistants({ api }) {
	const all = [];
	for (let page = 0; page < maxPages; page++) {
		const call = api.GET("/assistants/", { params: { query: {
			limit: pageSize,
			offset: all.length
		} } });
		const { response } = await call;
		all.push(...await unwrap(call));
		if (response.headers.get("link") === null) break;
	}
	return all;
}
/** The assistant with that name or id; without one, the only assistant that there is. */
async function findAssistant(service, wanted) {
	const all = await listAssistants(service);
	const [found, second] = wanted === void 0 ? all : all.filter(({ name, assistant_id: id }) => name === wanted || id === wanted);
	if (found !== void 0 && second === void 0) return found;
	const names = plainLine(all.slice(0, 10).map(({ name }) => `"${name}"`).join(", "));
	if (wanted === void 0) throw new Failure(`Name an assistant with --assistant; there are ${names || "none yet"}.`, exitCodes.usage);
	if (second !== void 0) throw new Failure(`Several assistants are called "${wanted}": use the id ("assistant assistants list").`);
	throw new Failure(`There is no assistant "${wanted}"; there are ${names || "none yet"}.`);
}
// cli/files.ts
const maxFiles = 1e4;
const pollMs = 500;
const pushFilesCommand = {
	name: "files push",
	summary: "Upload files, and all files of folders, and wait until the assistant has read them",
	operands: "PATH…",
	takes: [1, maxFiles],
	options: {
		...assistantOption,
		...jsonOption
	},
	async run({ operands, values, open }) {
		const service = await open();
		const files = await filesIn(operands);
		await pushFiles(service, (await findAssistant(service, textValue(values["assistant"]))).assistant_id, files, values["json"] === true);
	}
};
/** Uploads one file after the other. Throws at the end if one of them failed. */
async function pushFiles(service, assistantId, files, asJson = false) {
	const results = [];
	for (const file of files) {
		const ended = await pushOne(service, assistantId, file);
		progress("");
		for (const { name, metadata } of ended) {
			const { status, error } = metadata;
			results.push({
				name,
				status,
				...error !== void 0 && { error }
			});
			if (!asJson) out(plainLine(`${name}: ${status}${error === void 0 ? "" : ` (${error})`}`) + "\n");
		}
	}
	if (asJson) out(`${JSON.stringify(results)}\n`);
	const failed = results.filter(({ status }) => status !== "ready").length;
	if (failed > 0) throw new Failure(`${failed} of ${results.length} files could not be read.`);
}
async function pushOne(service, assistantId, file) {
	const where = { path: {
		aid: assistantId,
		ingestion_id: (await upload(service, assistantId, file)).ingestion_id
	} };
	for (;;) {
		const view = await unwrap(service.api.GET("/assistants/{aid}/ingestions/{ingestion_id}", { params: where }));
		if (view.status === "done") return view.files;
		progress(`${path.basename(file)}: reading, ${Math.round(view.progress * 100)} %`);
		await setTimeout$1(pollMs);
	}
}
/** The file is sent as it is read: it may be larger than the memory. */
async function upload({ url, token }, assistantId, file) {
	const name = path.basename(file);
	const { size } = await stat(file);
	const boundary = `----assistant-${randomUUID()}`;
	const quoted = name.replaceAll("\"", "%22").replaceAll(/[\r\n]/g, " ");
	async function* body() {
		yield Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="files"; filename="${quoted}"\r\ncontent-type: application/octet-stream\r\n\r\n`);
		let sent = 0;
		for await (const chunk of createReadStream(file)) {
			sent += chunk.length;
			yield chunk;
			progress(`${name}: sending, ${Math.round(sent / Math.max(1, size) * 100)} %`);
		}
		yield Buffer.from(`\r\n--${boundary}--\r\n`);
	}
	const response = await fetch(`${url}/assistants/${encodeURIComponent(assistantId)}/files?wait=false`, {
		method: "POST",
		headers: {
			authorization: `Bearer ${token}`,
			"content-type": `multipart/form-data; boundary=${boundary}`
		},
		body: ReadableStream.from(body()),
		duplex: "half"
	});
	if (!response.ok) throw await refusalOf(response);
	return await response.json();
}
async function filesIn(paths) {
	const files = [];
	for (const given of paths) {
		if (!(await stat(given).catch(() => {
			throw wrongUse(`There is no file "${given}".`);
		})).isDirectory()) files.push(given);
		else {
			const entries = await readdir(given, {
				recursive: true,
				withFileTypes: true
			});
			files.push(...entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name)));
		}
		if (files.length > maxFiles) throw wrongUse(`These are more than ${maxFiles} files.`);
	}
	if (files.length === 0) throw wrongUse("There are no files in these folders.");
	return files.toSorted();
}
// cli/assistants.ts
const list = {
	name: "assistants list",
	summary: "List the assistants of the project",
	operands: "",
	takes: [0, 0],
	options: jsonOption,
	async run({ values, open }) {
		const all = await listAssistants(await open());
		if (values["json"] === true) out(`${JSON.stringify(all)}\n`);
		else for (const { assistant_id: id, name } of all) out(`${id}\t${plainLine(name)}\n`);
	}
};
const exportOne = {
	name: "assistants export",
	summary: "Print an assistant as YAML, without its secrets",
	operands: "NAME",
	takes: [1, 1],
	options: { output: {
		type: "string",
		short: "o",
		value: "FILE",
		help: "write to this file"
	} },
	async run({ operands: [name], values, open }) {
		const service = await open();
		const { assistant_id: aid } = await findAssistant(service, name);
		const { file } = await unwrap(service.api.GET("/assistants/{aid}/yaml", { params: { path: { aid } } }));
		const output = textValue(values["output"]);
		if (output === void 0) out(plain(file));
		else await writeFile(output, file);
	}
};
const apply = {
	name: "assistants apply",
	summary: "Create the assistant of a YAML file, or change the one of its name",
	operands: "",
	takes: [0, 0],
	options: {
		file: {
			type: "string",
			short: "f",
			value: "FILE",
			help: "the file; - reads the standard input"
		},
		"with-files": {
			type: "boolean",
			help: "upload missing source files that lie beside the file"
		},
		...jsonOption
	},
	async run({ values, open }) {
		const file = textValue(values["file"]);
		if (file === void 0) throw wrongUse("Name the file with -f FILE.");
		const text = file === "-" ? (await Array.fromAsync(process.stdin.setEncoding("utf8"))).join("") : await readFile(file, "utf8").catch(() => {
			throw wrongUse(`The file "${file}" cannot be read.`);
		});
		const service = await open();
		const applied = await unwrap(service.api.POST("/assistants/apply", { body: { file: text } }));
		const { assistant, outcome, missing_secrets: secrets, missing_files: missing } = applied;
		if (values["json"] === true) out(`${JSON.stringify(applied)}\n`);
		else out(plainLine(`${assistant.name}: ${outcome}`) + "\n");
		for (const place of secrets) note(`Missing secret: ${plainLine(place)}. Set it in the console.`);
		const beside = missing.filter((name) => name === path.basename(name)).map((name) => path.join(path.dirname(file), name));
		const found = values["with-files"] === true && file !== "-" ? await present(beside) : [];
		for (const name of missing) if (!found.some((known) => path.basename(known) === name)) note(`Missing file: ${plainLine(name)}`);
		if (found.length > 0) await pushFiles(service, assistant.assistant_id, found, values["json"] === true);
	}
};
async function present(files) {
	return (await Promise.all(files.map((file) => access(file).then(() => [file], () => [])))).flat();
}
// cli/help.ts
const commonOptions = {
	url: {
		type: "string",
		value: "URL",
		help: "address of the service; default: that of the last login"
	},
	help: {
		type: "boolean",
		short: "h",
		help: "show this help"
	}
};
function helpOf({ name, operands, summary, options }) {
	const lines = Object.entries({
		...options,
		...commonOptions
	}).map(([long, option]) => {
		return [`${option.short === void 0 ? "    " : `-${option.short}, `}--${long}${option.value === void 0 ? "" : ` ${option.value}`}`, option.help];
	});
	return `Usage: ${[
		"assistant",
		name,
		"[OPTIONS]",
		operands
	].filter(Boolean).join(" ")}

${summary}.

Options:
${table(lines)}`;
}
function overview(commands) {
	return `Usage: assistant COMMAND [OPTIONS]

Commands:
${table(commands.map(({ name, operands, summary }) => [`${name} ${operands}`.trim(), summary]))}
"assistant COMMAND --help" shows the options of a command. ASSISTANT_URL and ASSISTANT_TOKEN
win over what a login has stored.
`;
}
function table(lines) {
	const width = Math.max(...lines.map(([left]) => left.length));
	return lines.map(([left, right]) => `  ${left.padEnd(width)}  ${right}\n`).join("");
}
// cli/completion.ts
const shells = [
	"bash",
	"zsh",
	"fish"
];
/** The command `completion`, for the commands that there are. */
function completionOf(others) {
	const completion = {
		name: "completion",
		summary: "Print the completion for a shell: source it from its start file",
		operands: shells.join("|"),
		takes: [1, 1],
		options: {},
		async run({ operands: [shell] }) {
			const known = [...others, completion];
			if (shell === "bash") out(bash(known));
			else if (shell === "zsh") out(`autoload -U +X bashcompinit && bashcompinit\n${bash(known)}`);
			else if (shell === "fish") out(fish(known));
			else throw wrongUse(`There is completion for ${shells.join(", ")}.`);
		}
	};
	return completion;
}
const optionsOf = ({ options }) => Object.keys({
	...options,
	...commonOptions
}).map((name) => `--${name}`);
const wordsOf = ({ name }) => name.split(" ");
const unique = (words) => [...new Set(words.filter((word) => word !== void 0))].join(" ");
/** Names of commands and options only, which are our own words: nothing in the script comes from elsewhere. */
function bash(commands) {
	const cases = [...[...Map.groupBy(commands.filter(({ name }) => name.includes(" ")), (command) => wordsOf(command)[0])].map(([group, members]) => `    "${group} ") words="${unique(members.map((member) => wordsOf(member)[1]))}" ;;`), ...commands.map((command) => `    "${command.name} "*|"${command.name}") words="${optionsOf(command).join(" ")}" ;;`)];
	return `_assistant() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before words
  before="\${COMP_WORDS[*]:1:COMP_CWORD-1} "
  case "$before" in
    " ") words="${unique(commands.map((command) => wordsOf(command)[0]))}" ;;
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ "\${#COMPREPLY[@]}" -eq 0 ]; then COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -o filenames -F _assistant assistant
`;
}
function fish(commands) {
	const lines = commands.flatMap((command) => {
		const [first = "", second] = wordsOf(command);
		const seen = second === void 0 ? `__fish_seen_subcommand_from ${first}` : `__fish_seen_subcommand_from ${first}; and __fish_seen_subcommand_from ${second}`;
		return [second === void 0 ? `complete -c assistant -n __fish_use_subcommand -a ${first} -d '${command.summary.replaceAll("'", String.raw`\'`)}'` : `complete -c assistant -n __fish_use_subcommand -a ${first}\ncomplete -c assistant -n '__fish_seen_subcommand_from ${first}' -a ${second}`, ...optionsOf(command).map((option) => `complete -c assistant -n '${seen}' -l ${option.slice(2)}`)];
	});
	return `${[...new Set(lines)].join("\n")}\n`;
}
// cli/login.ts
const login = {
	name: "login",
	summary: "Log in with a code that you confirm in the browser",
	operands: "",
	takes: [0, 0],
	options: { "no-browser": {
		type: "boolean",
		help: "only print the address"
	} },
	async run({ values, url: given }) {
		const { url } = await targetOf(given);
		const api = createClient({ baseUrl: url });
		const begun = await unwrap(api.POST("/auth/login-codes", { body: { name: `assistant on ${hostname()}`.slice(0, 200) } }));
		const address = plainLine(begun.verification_uri_complete);
		out(`Open ${address}\nand confirm this code: ${plainLine(begun.user_code)}\n`);
		if (process.stdout.isTTY && values["no-browser"] !== true) openBrowser(address);
		const endsAt = Date.now() + begun.expires_in * 1e3;
		const intervalMs = Number(process.env["ASSISTANT_LOGIN_INTERVAL_MS"] ?? begun.interval * 1e3);
		while (Date.now() < endsAt) {
			await setTimeout$1(intervalMs);
			const { status, jwt_token: token } = await unwrap(api.POST("/auth/login-codes/redeem", { body: { device_code: begun.device_code } }));
			if (token !== null) {
				await remember(url, token);
				out(`You are logged in to ${url}.\n`);
				return;
			}
			if (status === "refused") throw new Failure("The login was refused.", exitCodes.login);
			if (status === "expired") break;
		}
		throw new Failure("The code is no longer valid: run \"assistant login\" again.", exitCodes.login);
	}
};
const logout = {
	name: "logout",
	summary: "End this login, at the service too",
	operands: "",
	takes: [0, 0],
	options: {},
	async run({ url: given }) {
		const { url, token } = await targetOf(given);
		if (token !== void 0) await unwrap(createClient({
			baseUrl: url,
			token: () => token
		}).DELETE("/user/logins/{login_id}", { params: { path: { login_id: "current" } } })).catch((error) => {
			if (!(error instanceof ApiError)) note("The service cannot be reached: end the login in the console.");
		});
		await forget(url);
		out(`You are logged out of ${url}.\n`);
	}
};
/** Without a shell, and only for addresses of pages: the service chose the text. */
function openBrowser(address) {
	if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) return;
	const { href } = new URL(address);
	const [program, args] = {
		darwin: ["open", [href]],
		win32: ["rundll32", ["url.dll,FileProtocolHandler", href]]
	}[process.platform] ?? ["xdg-open", [href]];
	const child = spawn(program, args, {
		stdio: "ignore",
		detached: true
	});
	child.on("error", () => void 0);
	child.unref();
}
// src/fold-messages.ts
/**
* The messages after further ones: a whole message with a known id replaces the earlier one in place, others are
* appended. A delta adds to the text of its message; without that message it is ignored, because a whole one follows.
*/
function foldMessages(messages, changed) {
	const result = [...messages];
	const positions = new Map(result.map((message, position) => [message.data.id, position]));
	for (const message of changed) {
		const position = positions.get(message.data.id);
		const known = position === void 0 ? void 0 : result[position];
		if (message.type === "AIMessageDelta") {
			if (position === void 0 || known?.type !== "AIMessage") continue;
			result[position] = {
				...known,
				data: {
					...known.data,
					content: known.data.content + message.data.content
				}
			};
		} else if (position === void 0) positions.set(message.data.id, result.push(message) - 1);
		else result[position] = message;
	}
	return result;
}
// ../node_modules/eventsource-parser/dist/index.js
var ParseError = class extends Error {
	constructor(message, options) {
		super(message), this.name = "ParseError", this.type = options.type, this.field = options.field, this.value = options.value, this.line = options.line;
	}
};
const LF = 10;
const CR = 13;
const SPACE = 32;
function noop(_arg) {}
function createParser(config) {
	if (typeof config == "function") throw new TypeError("`config` must be an object, got a function instead. Did you mean `createParser({onEvent: fn})`?");
	const { onEvent = noop, onError = noop, onRetry = noop, onComment, maxBufferSize } = config, pendingFragments = [];
	let pendingFragmentsLength = 0, isFirstChunk = !0, id, data = "", dataLines = 0, eventType, terminated = !1;
	function feed(chunk) {
		if (terminated) throw new Error("Cannot feed parser: it was terminated after exceeding the configured max buffer size. Call `reset()` to resume parsing.");
		if (isFirstChunk && (isFirstChunk = !1, chunk.charCodeAt(0) === 239 && chunk.charCodeAt(1) === 187 && chunk.charCodeAt(2) === 191 && (chunk = chunk.slice(3))), pendingFragments.length === 0) {
			const trailing2 = processLines(chunk);
			trailing2 !== "" && (pendingFragments.push(trailing2), pendingFragmentsLength = trailing2.length), checkBufferSize();
			return;
		}
		if (chunk.indexOf(`
`) === -1 && chunk.indexOf("\r") === -1) {
			pendingFragments.push(chunk), pendingFragmentsLength += chunk.length, checkBufferSize();
			return;
		}
		pendingFragments.push(chunk);
		const input = pendingFragments.join("");
		pendingFragments.length = 0, pendingFragmentsLength = 0;
		const trailing = processLines(input);
		trailing !== "" && (pendingFragments.push(trailing), pendingFragmentsLength = trailing.length), checkBufferSize();
	}
	function checkBufferSize() {
		maxBufferSize !== void 0 && (pendingFragmentsLength + data.length <= maxBufferSize || (terminated = !0, pendingFragments.length = 0, pendingFragmentsLength = 0, id = void 0, data = "", dataLines = 0, eventType = void 0, onError(new ParseError(`Buffered data exceeded max buffer size of ${maxBufferSize} characters`, { type: "max-buffer-size-exceeded" }))));
	}
	function processLines(chunk) {
		let searchIndex = 0;
		if (chunk.indexOf("\r") === -1) {
			let lfIndex = chunk.indexOf(`
`, searchIndex);
			for (; lfIndex !== -1;) {
				if (searchIndex === lfIndex) {
					dataLines > 0 && onEvent({
						id,
						event: eventType,
						data
					}), id = void 0, data = "", dataLines = 0, eventType = void 0, searchIndex = lfIndex + 1, lfIndex = chunk.indexOf(`
`, searchIndex);
					continue;
				}
				const firstCharCode = chunk.charCodeAt(searchIndex);
				if (isDataPrefix(chunk, searchIndex, firstCharCode)) {
					const valueStart = chunk.charCodeAt(searchIndex + 5) === SPACE ? searchIndex + 6 : searchIndex + 5, value = chunk.slice(valueStart, lfIndex);
					if (dataLines === 0 && chunk.charCodeAt(lfIndex + 1) === LF) {
						onEvent({
							id,
							event: eventType,
							data: value
						}), id = void 0, data = "", eventType = void 0, searchIndex = lfIndex + 2, lfIndex = chunk.indexOf(`
`, searchIndex);
						continue;
					}
					data = dataLines === 0 ? value : `${data}
${value}`, dataLines++;
				} else isEventPrefix(chunk, searchIndex, firstCharCode) ? eventType = chunk.slice(chunk.charCodeAt(searchIndex + 6) === SPACE ? searchIndex + 7 : searchIndex + 6, lfIndex) || void 0 : parseLine(chunk, searchIndex, lfIndex);
				searchIndex = lfIndex + 1, lfIndex = chunk.indexOf(`
`, searchIndex);
			}
			return chunk.slice(searchIndex);
		}
		for (; searchIndex < chunk.length;) {
			const crIndex = chunk.indexOf("\r", searchIndex), lfIndex = chunk.indexOf(`
`, searchIndex);
			let lineEnd = -1;
			if (crIndex !== -1 && lfIndex !== -1 ? lineEnd = crIndex < lfIndex ? crIndex : lfIndex : crIndex !== -1 ? crIndex === chunk.length - 1 ? lineEnd = -1 : lineEnd = crIndex : lfIndex !== -1 && (lineEnd = lfIndex), lineEnd === -1) break;
			parseLine(chunk, searchIndex, lineEnd), searchIndex = lineEnd + 1, chunk.charCodeAt(searchIndex - 1) === CR && chunk.charCodeAt(searchIndex) === LF && searchIndex++;
		}
		return chunk.slice(searchIndex);
	}
	function parseLine(chunk, start, end) {
		if (start === end) {
			dispatchEvent();
			return;
		}
		const firstCharCode = chunk.charCodeAt(start);
		if (isDataPrefix(chunk, start, firstCharCode)) {
			const valueStart = chunk.charCodeAt(start + 5) === SPACE ? start + 6 : start + 5, value2 = chunk.slice(valueStart, end);
			data = dataLines === 0 ? value2 : `${data}
${value2}`, dataLines++;
			return;
		}
		if (isEventPrefix(chunk, start, firstCharCode)) {
			eventType = chunk.slice(chunk.charCodeAt(start + 6) === SPACE ? start + 7 : start + 6, end) || void 0;
			return;
		}
		if (firstCharCode === 105 && chunk.charCodeAt(start + 1) === 100 && chunk.charCodeAt(start + 2) === 58) {
			const value2 = chunk.slice(chunk.charCodeAt(start + 3) === SPACE ? start + 4 : start + 3, end);
			value2.includes("\0") || (id = value2);
			return;
		}
		if (firstCharCode === 58) {
			if (onComment) {
				const line2 = chunk.slice(start, end);
				onComment(line2.slice(chunk.charCodeAt(start + 1) === SPACE ? 2 : 1));
			}
			return;
		}
		const line = chunk.slice(start, end), fieldSeparatorIndex = line.indexOf(":");
		if (fieldSeparatorIndex === -1) {
			processField(line, "", line);
			return;
		}
		const field = line.slice(0, fieldSeparatorIndex), offset = line.charCodeAt(fieldSeparatorIndex + 1) === SPACE ? 2 : 1;
		processField(field, line.slice(fieldSeparatorIndex + offset), line);
	}
	function processField(field, value, line) {
		switch (field) {
			case "event":
				eventType = value || void 0;
				break;
			case "data":
				data = dataLines === 0 ? value : `${data}
${value}`, dataLines++;
				break;
			case "id":
				value.includes("\0") || (id = value);
				break;
			case "retry":
				/^\d+$/.test(value) ? onRetry(parseInt(value, 10)) : onError(new ParseError(`Invalid \`retry\` value: "${value}"`, {
					type: "invalid-retry",
					value,
					line
				}));
				break;
			default: onError(new ParseError(`Unknown field "${field.length > 20 ? `${field.slice(0, 20)}\u2026` : field}"`, {
				type: "unknown-field",
				field,
				value,
				line
			}));
		}
	}
	function dispatchEvent() {
		dataLines > 0 && onEvent({
			id,
			event: eventType,
			data
		}), id = void 0, data = "", dataLines = 0, eventType = void 0;
	}
	function reset(options = {}) {
		if (options.consume && pendingFragments.length > 0) {
			const incompleteLine = pendingFragments.join("");
			parseLine(incompleteLine, 0, incompleteLine.length);
		}
		isFirstChunk = !0, id = void 0, data = "", dataLines = 0, eventType = void 0, pendingFragments.length = 0, pendingFragmentsLength = 0, terminated = !1;
	}
	return {
		feed,
		reset
	};
}
function isDataPrefix(chunk, i, firstCharCode) {
	return firstCharCode === 100 && chunk.charCodeAt(i + 1) === 97 && chunk.charCodeAt(i + 2) === 116 && chunk.charCodeAt(i + 3) === 97 && chunk.charCodeAt(i + 4) === 58;
}
function isEventPrefix(chunk, i, firstCharCode) {
	return firstCharCode === 101 && chunk.charCodeAt(i + 1) === 118 && chunk.charCodeAt(i + 2) === 101 && chunk.charCodeAt(i + 3) === 110 && chunk.charCodeAt(i + 4) === 116 && chunk.charCodeAt(i + 5) === 58;
}
// src/read-events.ts
/**
* An event with its data parsed, typed as the component that `x-itemSchema` names for the stream:
* `parseEvent<Schemas['RunStreamEvent']>(event)`. The type is what the service describes; it is not checked.
*/
function parseEvent({ event, data }) {
	return {
		event,
		data: data === "" || data === "[DONE]" ? data : JSON.parse(data)
	};
}
/** An event contains at most a whole thread; anything larger is not a stream of this service. */
const maxEventCharacters = 134217728;
/**
* The events of a stream as they arrive. `onBytes` is called for every piece, including comments, which show that
* the connection is alive.
*/
async function* readEvents(body, onBytes = () => {}, { maxCharacters = maxEventCharacters } = {}) {
	let arrived = [];
	let isTooLong = false;
	const parser = createParser({
		onEvent: (event) => arrived.push(event),
		onError: ({ type }) => {
			if (type === "max-buffer-size-exceeded") isTooLong = true;
		},
		maxBufferSize: maxCharacters
	});
	const reader = body.getReader();
	const decoder = new TextDecoder();
	let lastText = "";
	try {
		for (;;) {
			const { value, done } = await reader.read();
			if (!done) onBytes();
			const text = done ? lastText.endsWith("\r") ? "\n" : "" : decoder.decode(value, { stream: true });
			parser.feed(text);
			lastText = text || lastText;
			const events = arrived;
			arrived = [];
			for (const { event = "message", id, data } of events) yield {
				event,
				id,
				data
			};
			if (isTooLong) throw new Error("an event of the stream is too long");
			if (done) return;
		}
	} finally {
		await reader.cancel().catch(() => void 0);
	}
}
// src/run-connection.ts
/** The events of one response. */
async function* connect(options, { url, method, body, after }) {
	const { baseUrl, token, headers, signal, fetch = globalThis.fetch, silenceMs = 45e3 } = options;
	const mode = options.streamMode ?? "deltas";
	const silence = new AbortController();
	let timer = setTimeout(() => silence.abort(), silenceMs);
	const alive = () => {
		clearTimeout(timer);
		timer = setTimeout(() => silence.abort(), silenceMs);
	};
	const current = token?.();
	try {
		const response = await fetch(`${baseUrl}${url}?stream_mode=${mode}`, {
			method,
			signal: signal ? AbortSignal.any([signal, silence.signal]) : silence.signal,
			...body === void 0 ? {} : { body },
			headers: {
				...headers,
				accept: "text/event-stream",
				...body === void 0 ? {} : { "content-type": "application/json" },
				...current === void 0 ? {} : { authorization: `Bearer ${current}` },
				...after === void 0 ? {} : { "last-event-id": after }
			}
		});
		if (!response.ok) throw await refusalOf(response);
		if (response.body === null) throw new Error("The answer has no body.");
		yield* readEvents(response.body, alive);
	} finally {
		clearTimeout(timer);
	}
}
function isAborted({ signal }) {
	return signal?.aborted === true;
}
/** Ends early if the signal aborts, or when the browser reports that it is online again. */
function pause(ms, signal) {
	const page = Reflect.get(globalThis, "window");
	return new Promise((resolve) => {
		const done = () => {
			clearTimeout(timer);
			signal?.removeEventListener("abort", done);
			if (page instanceof EventTarget) page.removeEventListener("online", done);
			resolve();
		};
		const timer = setTimeout(done, ms);
		if (signal?.aborted) done();
		signal?.addEventListener("abort", done);
		if (page instanceof EventTarget) page.addEventListener("online", done);
	});
}
// src/follow-run.ts
const firstPauseMs = 500;
const longestPauseMs = 1e4;
/**
* Follows a run and yields a snapshot after each event, until the run ends, fails or waits for a decision.
* Reconnects by itself with `Last-Event-ID`. Returns when `signal` aborts. Throws `ApiError` for a permanent
* refusal, and the last failure if the connection cannot be restored.
*/
async function* followRun(options) {
	const begun = newSnapshot(options.runId);
	if (options.lastEventId !== void 0) begun.lastEventId = options.lastEventId;
	yield* follow(options, begun);
}
async function* follow(options, start, isBroken = false) {
	const { path = "/runs", giveUpAfterMs = 6e5 } = options;
	const snapshot = start;
	let failures = isBroken ? 1 : 0;
	let lostAt = Date.now();
	while (snapshot.status === "running") {
		if (failures > 0) {
			yield {
				...snapshot,
				connection: "reconnecting"
			};
			await pause(Math.min(longestPauseMs, firstPauseMs * 2 ** (failures - 1)) * (.75 + Math.random() / 2), options.signal);
		}
		if (isAborted(options)) return;
		const url = `${path}/${encodeURIComponent(snapshot.runId)}/stream`;
		let failure = /* @__PURE__ */ new Error("The connection was closed before the run ended.");
		try {
			for await (const next of read(connect(options, {
				url,
				method: "GET",
				after: snapshot.lastEventId
			}), snapshot)) {
				failures = 0;
				lostAt = Date.now();
				yield next;
			}
		} catch (error) {
			if (error instanceof ApiError && !canRetry(error)) throw error;
			failure = error;
			if (error instanceof ApiError && error.retryAfterSeconds !== void 0) await pause(Math.min(60, error.retryAfterSeconds) * 1e3, options.signal);
		}
		if (isAborted(options)) return;
		if (snapshot.status !== "running") return;
		failures += 1;
		if (Date.now() - lostAt > giveUpAfterMs) throw failure;
	}
}
/** Folds events into the snapshot, and yields a copy after each. */
async function* read(events, snapshot) {
	for await (const received of events) {
		if (received.id !== void 0) snapshot.lastEventId = received.id;
		const event = parseEvent(received);
		switch (event.event) {
			case "metadata":
				Object.assign(snapshot, {
					runId: event.data.run_id,
					threadId: event.data.thread_id
				});
				break;
			case "data":
				snapshot.messages = foldMessages(snapshot.messages, event.data);
				break;
			case "end":
				snapshot.status = "ended";
				break;
			case "error":
				snapshot.status = "failed";
				snapshot.error = event.data;
		}
		yield { ...snapshot };
		if (snapshot.status !== "running") return;
	}
}
function newSnapshot(runId) {
	return {
		runId,
		threadId: "",
		messages: [],
		status: "running",
		error: void 0,
		connection: "open",
		lastEventId: void 0
	};
}
function canRetry({ status }) {
	return status === 408 || status === 429 || status >= 500;
}
// cli/answer.ts
/**
* Follows a run to its end, over lost connections, and shows the text of its answers as it grows (not with `quiet`).
* Aborting `signal` stops reading; the run goes on.
*/
async function showRun(service, runId, { quiet = false, signal } = {}) {
	const shown = /* @__PURE__ */ new Map();
	let last;
	let wasLost = false;
	const stop = signal === void 0 ? {} : { signal };
	for await (const snapshot of followRun({
		baseUrl: service.url,
		token: () => service.token,
		runId,
		...stop
	})) {
		last = snapshot;
		const isLost = snapshot.connection === "reconnecting";
		if (isLost && !wasLost && !quiet) note("\nThe connection is lost; trying again …");
		wasLost = isLost;
		if (!quiet) for (const message of snapshot.messages) showGrowth(message, shown);
	}
	if (!quiet && shown.size > 0) out("\n");
	const messages = last?.messages ?? [];
	const run = await unwrap(service.api.GET("/runs/{run_id}", { params: { path: { run_id: runId } } }));
	const isEnded = last !== void 0 && last.status !== "running";
	return {
		run_id: runId,
		thread_id: run.thread_id,
		status: statusOf(run.status, isEnded),
		text: textOf(messages),
		sources: sourcesOf(messages),
		...last?.error !== void 0 && { error: last.error.message }
	};
}
/** How a command ends after its answer: prints what was not shown yet, and throws for a run that did not succeed. */
function finish(answer, asJson) {
	if (asJson) out(`${JSON.stringify(answer)}\n`);
	else if (answer.sources.length > 0) out(`\nSources:\n${answer.sources.map((source) => `- ${source}\n`).join("")}`);
	if (answer.status === "interrupted") throw new Failure(`Run ${answer.run_id} waits for a decision: open it in the console.`, exitCodes.waits);
	if (answer.status === "cancelled") throw new Failure("The run was cancelled.");
	if (answer.status === "failed") throw new Failure(plainLine(answer.error ?? "The run failed."));
}
function statusOf(status, isEnded) {
	if (status === "success" || status === "interrupted" || status === "cancelled") return status;
	return isEnded ? "failed" : "cancelled";
}
const isAnswer = (message) => message.type === "AIMessage";
const textOf = (messages) => messages.filter(isAnswer).map(({ data }) => plain(String(data.content))).filter(Boolean).join("\n\n");
function showGrowth(message, shown) {
	const text = isAnswer(message) ? plain(String(message.data.content)) : "";
	const id = String(message.data.id);
	const before = shown.get(id);
	if (text === (before ?? "")) return;
	if (before !== void 0 && !text.startsWith(before)) out(`\n\n${text}`);
	else out(`${before === void 0 && shown.size > 0 ? "\n\n" : ""}${text.slice(before?.length ?? 0)}`);
	shown.set(id, text);
}
/** The files, with pages, that searches of the run have found, each once. */
function sourcesOf(messages) {
	const sources = messages.flatMap(({ type, data }) => {
		const content = String(data.content);
		if (type !== "ToolMessage" || !content.startsWith("{\"passages\"")) return [];
		try {
			const { passages } = JSON.parse(content);
			return passages.map(({ file_name: name, page }) => plainLine(typeof page === "number" ? `${String(name)}, page ${page}` : String(name)));
		} catch {
			return [];
		}
	});
	return [...new Set(sources)];
}
// cli/runs.ts
const watchRun = {
	name: "runs watch",
	summary: "Follow a run to its end, also over lost connections",
	operands: "RUN_ID",
	takes: [1, 1],
	options: jsonOption,
	async run({ operands: [runId = ""], values, open }) {
		const asJson = values["json"] === true;
		finish(await showRun(await open(), runId, { quiet: asJson }), asJson);
	}
};
// cli/talk.ts
const titleLength = 60;
async function newThread({ api }, question) {
	const name = question.replaceAll(/\s+/g, " ").trim().slice(0, titleLength) || "From the command line";
	return (await unwrap(api.POST("/threads/", { body: { name } }))).thread_id;
}
/** Starts a run and shows its answer. `stopping` gets what ends both, for Ctrl-C. */
async function askOnce(service, where, question, { quiet, onRun }) {
	const { api } = service;
	const { run_id: runId } = await unwrap(api.POST("/runs/", { body: {
		assistant_id: where.assistantId,
		thread_id: where.threadId,
		input: [{
			type: "human",
			content: question
		}]
	} }));
	onRun?.(async () => {
		await unwrap(api.POST("/runs/{run_id}/cancel", { params: { path: { run_id: runId } } }));
	});
	try {
		return await showRun(service, runId, { quiet });
	} finally {
		onRun?.(void 0);
	}
}
/** Ctrl-C cancels the run that is under way; pressed again, or without a run, it ends the program. */
function onInterrupt(whenIdle) {
	let cancel;
	const interrupted = () => {
		const running = cancel;
		cancel = void 0;
		if (running === void 0) return whenIdle();
		note("\nCancelling the answer …");
		running().catch(() => note("The answer could not be cancelled; it goes on."));
	};
	process.on("SIGINT", interrupted);
	return {
		interrupted,
		onRun: (next) => void (cancel = next),
		end: () => void process.off("SIGINT", interrupted)
	};
}
// cli/main.ts
const own = [
	login,
	logout,
	{
		name: "ask",
		summary: "Ask one question and print the answer with its sources",
		operands: "QUESTION",
		takes: [1, 1],
		options: {
			...assistantOption,
			thread: {
				type: "string",
				value: "ID",
				help: "go on in this thread instead of a new one"
			},
			...jsonOption
		},
		async run({ operands: [given = ""], values, open }) {
			const service = await open();
			const question = given === "-" ? (await Array.fromAsync(process.stdin.setEncoding("utf8"))).join("") : given;
			const assistant = await findAssistant(service, textValue(values["assistant"]));
			const threadId = textValue(values["thread"]) ?? await newThread(service, question);
			const { onRun, end } = onInterrupt(() => process.exit(exitCodes.interrupted));
			const quiet = values["json"] === true;
			const answer = await askOnce(service, {
				assistantId: assistant.assistant_id,
				threadId
			}, question, {
				quiet,
				onRun
			});
			end();
			finish(answer, quiet);
		}
	},
	{
		name: "chat",
		summary: "Talk with an assistant; an empty line or Ctrl-D ends it, Ctrl-C cancels an answer",
		operands: "",
		takes: [0, 0],
		options: {
			...assistantOption,
			thread: {
				type: "string",
				value: "ID",
				help: "go on in this thread"
			}
		},
		async run({ values, open }) {
			const service = await open();
			const assistant = await findAssistant(service, textValue(values["assistant"]));
			let threadId = textValue(values["thread"]);
			const isWatched = process.stdin.isTTY && process.stdout.isTTY;
			const lines = createInterface({
				input: process.stdin,
				...isWatched && {
					output: process.stdout,
					prompt: "> "
				}
			});
			const keys = onInterrupt(() => lines.close());
			lines.on("SIGINT", keys.interrupted);
			if (isWatched) lines.prompt();
			for await (const line of lines) {
				const question = line.trim();
				if (question === "") break;
				threadId ??= await newThread(service, question);
				try {
					finish(await askOnce(service, {
						assistantId: assistant.assistant_id,
						threadId
					}, question, {
						quiet: false,
						onRun: keys.onRun
					}), false);
				} catch (error) {
					if (!(error instanceof Failure)) throw error;
					note(error.message);
				}
				if (isWatched) lines.prompt();
				else out("\n");
			}
			keys.end();
			lines.close();
			if (threadId !== void 0) note(`Go on with: assistant chat --thread ${threadId}`);
		}
	},
	pushFilesCommand,
	list,
	apply,
	exportOne,
	watchRun
];
const commands = [...own, completionOf(own)];
process.stdout.on("error", () => process.exit(0));
process.exitCode = await main(process.argv.slice(2));
async function main(args) {
	try {
		await runCommand(args);
		return 0;
	} catch (error) {
		const { message, code } = failureOf(error);
		note(`assistant: ${message}`);
		return code;
	}
}
async function runCommand(args) {
	const command = commands.find(({ name }) => name.split(" ").every((word, index) => word === args[index]));
	if (command === void 0) {
		const [first] = args;
		if (first === void 0 || [
			"help",
			"--help",
			"-h"
		].includes(first)) return out(overview(commands));
		const group = commands.filter(({ name }) => name.startsWith(`${first} `));
		if (group.length > 0 && (args[1] === void 0 || args[1] === "--help")) return out(overview(group));
		throw wrongUse(`There is no command "${plainLine(args.slice(0, 2).join(" "))}": "assistant --help" lists them.`);
	}
	const { values, positionals } = parse(command, args.slice(command.name.split(" ").length));
	if (values["help"] === true) return out(helpOf(command));
	const [least, most] = command.takes;
	if (positionals.length < least || positionals.length > most) throw wrongUse(`Usage: assistant ${command.name} ${command.operands}`.trim());
	const url = textValue(values["url"]);
	await command.run({
		operands: positionals,
		values,
		url,
		open: () => openService(url)
	});
}
function parse({ options }, args) {
	try {
		return parseArgs({
			args,
			allowPositionals: true,
			options: {
				...options,
				...commonOptions
			}
		});
	} catch (error) {
		throw wrongUse(error instanceof Error ? plainLine(error.message) : "The options are not valid.");
	}
}
function failureOf(error) {
	if (error instanceof Failure) return error;
	if (error instanceof ApiError) {
		const code = error.status === 401 ? exitCodes.login : exitCodes.failed;
		return new Failure(plainLine(error.message), code);
	}
	if (error instanceof TypeError && error.message === "fetch failed") return new Failure("The service cannot be reached.", exitCodes.unreachable);
	return new Failure(error instanceof Error ? plainLine(error.message) : "Something went wrong.");
}
export {};
