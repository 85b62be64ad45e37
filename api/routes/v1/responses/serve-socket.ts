import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { createParser } from 'eventsource-parser'
import type { RawData, WebSocket } from 'ws'
import { cutText } from '../../../../domain/cut-text.ts'
import { AppError, invalidInput } from '../../../../domain/errors.ts'
import { JsonLimitError, parseForeignJson, refusalOf } from '../../../../domain/foreign-json.ts'
import { isJsonObject, parseOwnJson } from '../../../../domain/json.ts'
import { type CompatErrorObject, v1Errors } from '../../../plugins/compat-errors.ts'
import type { UnreadAnswer, UnreadAnswers } from '../../../plugins/unread-answers.ts'
import { type Connection, currentConnection } from './connection.ts'

/** Answers the body of a request by an event stream, or by an error as JSON. */
export type AnswerTurn = (body: Record<string, unknown>) => Promise<Answer>

interface Answer {
  statusCode: number
  stream(): Readable
  raw: { res: { destroy(): unknown } }
}

interface SocketOptions {
  connection: Connection
  answer: AnswerTurn
  /** Aborted when the service shuts down: what is under way is finished. */
  closing: AbortSignal
  /** Where what its client does not read is counted, with all other answers. */
  unread: Pick<UnreadAnswers, 'note' | 'forget'>
  onError(error: unknown): void
  times?: { lifeMs: number; idleMs: number; pingMs: number; unreadMs: number }
}

/** `unreadMs`: how long a client may take nothing of what waits for it, as with other answers. */
const defaultTimes = { lifeMs: 60 * 60_000, idleMs: 10 * 60_000, pingMs: 30_000, unreadMs: 2 * 60_000 }
/** Requests that wait for the one under way; then nothing more is read from the client. */
const maxWaiting = { requests: 4, characters: 1024 * 1024 }
/** A client that does not read its events is told nothing more. */
const maxUnreadBytes = 8 * 1024 * 1024
/** Below it, events are sent without waiting for the client. */
const smoothBytes = 64 * 1024
/** It is repeated in every event. */
const maxStreamIdLength = 200

const closeCodes = { normal: 1000, leaving: 1001, notText: 1003 } as const

/** Serves one client until it leaves, is silent for too long, or its time is over. Requests are answered one by one. */
export function serveSocket(
  socket: WebSocket,
  { connection, answer, closing, unread, onError, times = defaultTimes }: SocketOptions,
): { finished: Promise<void>; stop: () => void } {
  const waiting: string[] = []
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>()
  let isBusy = false
  let ending: { code: number; reason: string } | undefined
  let current: Answer | undefined
  let idle: NodeJS.Timeout | undefined
  let hasAnswered = true

  const retained: UnreadAnswer = {
    bytes: () => (isOpen() && unreadBytes() > smoothBytes ? unreadBytes() : undefined),
    destroy: () => socket.terminate(),
  }
  const isOpen = () => socket.readyState === socket.OPEN
  const send = (event: object) => sendText(JSON.stringify(event))

  function sendText(data: string): void {
    if (!isOpen()) return
    socket.send(data, () => undefined)
    unread.note(retained)
  }

  function end(code: number, reason: string): void {
    ending = { code, reason }
    if (!isBusy) socket.close(code, reason)
  }

  function waitForMore(): void {
    clearTimeout(idle)
    idle = setTimeout(() => end(closeCodes.normal, 'nothing was asked for ten minutes'), times.idleMs)
  }

  async function work(): Promise<void> {
    isBusy = true
    clearTimeout(idle)
    for (let next = waiting.shift(); next !== undefined && isOpen() && ending === undefined; next = waiting.shift()) {
      await turn(next)
      // Refusals, too, are told only to a client that reads them.
      if (socket.bufferedAmount > smoothBytes) await written()
      if (!isFull()) socket.resume()
    }
    isBusy = false
    if (ending !== undefined) socket.close(ending.code, ending.reason)
    else if (isOpen()) waitForMore()
  }

  async function turn(frame: string): Promise<void> {
    let stream: unknown
    let previous: unknown
    try {
      const { stream_id: id, ...body } = readFrame(frame)
      if (typeof id === 'string' && id.length > maxStreamIdLength)
        throw invalidInput(['body', 'stream_id'], `has ${maxStreamIdLength} characters at most`)
      stream = typeof id === 'string' ? id : undefined
      previous = body['previous_response_id']
      const hasFailed = await currentConnection.run(connection, () => answerTurn(body, stream))
      if (hasFailed && typeof previous === 'string') connection.drop(previous)
    } catch (error) {
      if (typeof previous === 'string') connection.drop(previous)
      const refusal = error instanceof AppError ? error : internal(error)
      // The answer of a client that has left ends in the middle.
      if (refusal.status >= 500 && isOpen()) onError(error)
      sendError(
        v1Errors.statusOf?.(refusal) ?? refusal.status,
        errorOf(v1Errors.bodyOf({ detail: '' }, refusal)),
        stream,
      )
    }
  }

  /** Returns whether the response has failed. */
  async function answerTurn(body: Record<string, unknown>, stream: unknown): Promise<boolean> {
    const found = await answer({ ...body, stream: true })
    if (found.statusCode !== 200) {
      const refused = parseOwnJson<unknown>(await text(found.stream()))
      sendError(found.statusCode, errorOf(refused), stream)
      return true
    }
    current = found
    if (!isOpen()) found.raw.res.destroy()
    try {
      return await passOn(found.stream(), stream)
    } finally {
      current = undefined
    }
  }

  async function passOn(events: Readable, stream: unknown): Promise<boolean> {
    let hasFailed = false
    const parser = createParser({
      onEvent({ event, data }) {
        hasFailed ||= event === 'error' || event === 'response.failed'
        if (event === 'error') return sendStreamError(data, stream)
        sendText(stream === undefined ? data : JSON.stringify({ ...parsed(data), stream_id: stream }))
      },
    })
    for await (const chunk of events) {
      parser.feed(String(chunk))
      if (unreadBytes() > maxUnreadBytes) socket.terminate()
      if (!isOpen()) break
      if (socket.bufferedAmount > smoothBytes) await written()
    }
    return hasFailed
  }

  /** Resolves when the client has taken what was sent, or has left. */
  async function written(): Promise<void> {
    const late = setTimeout(() => socket.terminate(), times.unreadMs)
    await new Promise((resolve) => socket.ping(undefined, undefined, resolve))
    clearTimeout(late)
    unread.note(retained)
  }

  function isFull(): boolean {
    if (waiting.length >= maxWaiting.requests) return true
    return waiting.reduce((sum, { length }) => sum + length, 0) > maxWaiting.characters
  }

  /** As the stream says it, in the shape of a WebSocket. */
  function sendStreamError(data: string, stream: unknown): void {
    const { message, code, param, sequence_number: number } = parsed(data)
    const error = { type: 'server_error', code, message, param }
    send({ type: 'error', error, sequence_number: number, ...(stream === undefined ? {} : { stream_id: stream }) })
  }

  function sendError(status: number, error: object, stream: unknown): void {
    send({ type: 'error', status, error, ...(stream === undefined ? {} : { stream_id: stream }) })
  }

  function take(data: RawData, isBinary: boolean): void {
    if (isBinary || !Buffer.isBuffer(data)) return socket.close(closeCodes.notText, 'only texts are read')
    waiting.push(data.toString('utf8'))
    if (isFull()) socket.pause()
    if (!isBusy) void work().catch(onError)
  }

  function unreadBytes(): number {
    return socket.bufferedAmount + (current?.stream().readableLength ?? 0)
  }

  function beat(): void {
    // An answer goes on while its client is waited for.
    unread.note(retained)
    if (unreadBytes() > maxUnreadBytes) return socket.terminate()
    if (socket.isPaused) return
    if (!hasAnswered) return socket.terminate()
    hasAnswered = false
    socket.ping()
  }

  const beats = setInterval(beat, times.pingMs)
  const life = setTimeout(() => {
    sendError(400, limitReached, undefined)
    end(closeCodes.normal, 'its time is over')
  }, times.lifeMs)
  const leave = () => end(closeCodes.leaving, 'the service is shutting down')
  closing.addEventListener('abort', leave)
  socket.on('message', take)
  // A client that does not read them is sent no more.
  socket.on('ping', (data: Buffer) => {
    if (socket.bufferedAmount < smoothBytes) socket.pong(data)
  })
  socket.on('pong', () => {
    hasAnswered = true
  })
  socket.once('close', () => {
    clearInterval(beats)
    clearTimeout(life)
    clearTimeout(idle)
    closing.removeEventListener('abort', leave)
    current?.raw.res.destroy()
    connection.close()
    unread.forget(retained)
    finish()
  })
  waitForMore()
  if (closing.aborted) leave()
  return { finished, stop: () => socket.terminate() }
}

const limitReached: CompatErrorObject = {
  type: 'invalid_request_error',
  code: 'websocket_connection_limit_reached',
  message: 'A connection stays open for an hour: open another one.',
  param: null,
}

/** The request that a frame holds, without what belongs to the connection. */
function readFrame(frame: string): Record<string, unknown> {
  const event = objectIn(frame)
  const { type, stream: _stream, background: _background, generate, ...body } = event
  if (type !== 'response.create')
    throw unsupported('type', `${cutText(String(type), 64)} is not available here: send response.create`)
  if (generate === false) throw unsupported('generate', 'nothing is prepared before a response here')
  return body
}

function objectIn(frame: string): Record<string, unknown> {
  let value: unknown
  try {
    value = parseForeignJson(frame, { bytes: Infinity })
  } catch (cause) {
    if (cause instanceof JsonLimitError) throw refusalOf(cause, ['body'])
    throw new AppError('bad_request', 'The event is not valid JSON.', { cause })
  }
  if (!isJsonObject(value)) throw new AppError('bad_request', 'An event is a JSON object.')
  return value
}

function unsupported(member: string, why: string): AppError {
  return invalidInput(['body', member], why, 'unsupported')
}

function internal(cause: unknown): AppError {
  return new AppError('internal', 'Something went wrong on our side.', { cause })
}

/** Our own event. */
function parsed(data: string): Record<string, unknown> {
  const value = parseOwnJson<unknown>(data)
  return isJsonObject(value) ? value : {}
}

function errorOf(body: unknown): object {
  return isJsonObject(body) && isJsonObject(body['error']) ? body['error'] : {}
}
