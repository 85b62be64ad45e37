import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'

export type EventStream = ReturnType<typeof openEventStream>

const keepAliveMs = 15_000

/**
 * Answers with server-sent events (HTML standard, section 9.2). The response is taken over from
 * Fastify; the headers that hooks have set so far are kept.
 */
export function openEventStream(reply: FastifyReply, headers: Record<string, string> = {}) {
  reply.hijack()
  const watch = reply.watchStream?.()
  const raw: ServerResponse = reply.raw
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value)
  raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
    ...headers,
  })
  raw.flushHeaders()
  raw.socket?.setNoDelay(true)
  let sentBytes = 0
  let progress = () => {}
  const isClosed = () => raw.closed || raw.destroyed
  const comment = (text: string): void => {
    raw.write(`: ${text}\n\n`)
  }
  // A client may be gone before its stream is opened; then nothing would end the timer.
  const keepAlive = isClosed()
    ? undefined
    : setInterval(() => {
        if (!raw.writableNeedDrain) comment('keep-alive')
      }, keepAliveMs)
  raw.on('drain', () => progress())
  raw.once('close', () => {
    clearInterval(keepAlive)
    progress()
  })

  return {
    /** Sends one event; false when the client does not keep up, and it is better to wait until `isWritable`. */
    send(event: { name?: string; id?: string; data: string }): boolean {
      const name = event.name === undefined ? '' : `event: ${event.name}\n`
      const id = event.id === undefined ? '' : `id: ${event.id}\n`
      const frame = `${name}${id}data: ${onOneLine(event.data)}\n\n`
      sentBytes += frame.length
      watch?.(event.name)
      return raw.write(frame)
    },
    /** A line that clients pass over. */
    comment,
    /** Calls `listener`, in place of an earlier one, when the client can take more or is gone. */
    onProgress(listener: () => void): void {
      progress = listener
    },
    end(): void {
      raw.end()
    },
    /** About the bytes of all events so far. */
    get sentBytes() {
      return sentBytes
    },
    get isWritable() {
      return !raw.writableNeedDrain
    },
    get isClosed() {
      return isClosed()
    },
  }
}

/**
 * U+0085, U+2028 and U+2029 end no line of an event stream, but many clients split there all the
 * same. Data is JSON, where such a character stands in a string only and may be written as an escape.
 */
function onOneLine(data: string): string {
  return data.replace(/[\u0085\u2028\u2029]/g, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
