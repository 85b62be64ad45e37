import createFetchClient from "openapi-fetch";
import { createParser } from "eventsource-parser";
// src/create-client.ts
/** Requests with paths, bodies and answers that the compiler checks. */
function createClient({ baseUrl, token, fetch }) {
	const client = createFetchClient({
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
/** Starts a run and follows it, in one request. Throws if the connection breaks before the run's id has arrived. */
async function* streamRun(options) {
	const { path = "/runs", body } = options;
	const snapshot = newSnapshot("");
	const first = connect(options, {
		url: `${path}/stream`,
		method: "POST",
		body: JSON.stringify(body)
	});
	try {
		yield* read(first, snapshot);
	} catch (error) {
		if (isAborted(options)) return;
		if (snapshot.runId === "" || error instanceof ApiError) throw error;
	}
	if (snapshot.status === "running" && !isAborted(options)) yield* follow(options, snapshot, true);
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
export { ApiError, createClient, foldMessages, followRun, parseEvent, readEvents, streamRun, unwrap };
