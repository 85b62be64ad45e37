import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import { type Context, ROOT_CONTEXT, type SpanContext, TraceFlags, trace } from '@opentelemetry/api'
import { type IdGenerator, RandomIdGenerator } from '@opentelemetry/sdk-trace'
import type { TracedRun } from '../../services/tracing.ts'

/** Reads a `traceparent` (W3C Trace Context, version 00); undefined if it is invalid. */
export function parseTraceparent(text: string | undefined): SpanContext | undefined {
  const parts = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text ?? '')
  const [, traceId, spanId, flags] = parts ?? []
  if (!traceId || !spanId || !flags || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true }
}

export function formatTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

export function contextOf(parent: SpanContext | undefined): Context {
  return parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent)
}

/**
 * The context of a run's own span. Steps may run in several processes, and the process that ends the run sends the
 * span: so its id is made from the run's id.
 */
export function runSpanContext(run: TracedRun): SpanContext {
  const parent = parseTraceparent(run.traceparent)
  const digest = createHash('sha256').update(run._id).digest('hex')
  return {
    traceId: parent?.traceId ?? digest.slice(16, 48),
    spanId: digest.slice(0, 16),
    traceFlags: parent?.traceFlags ?? TraceFlags.SAMPLED,
    isRemote: true,
  }
}

/** Random ids, except for a span that is started within `withIds`. */
export function createIds() {
  const forced = new AsyncLocalStorage<{ traceId: string; spanId: string }>()
  const random = new RandomIdGenerator()
  const generator: IdGenerator = {
    generateTraceId: () => forced.getStore()?.traceId ?? random.generateTraceId(),
    generateSpanId: () => forced.getStore()?.spanId ?? random.generateSpanId(),
  }
  return {
    generator,
    withIds: <T>(ids: { traceId: string; spanId: string }, start: () => T): T => forced.run(ids, start),
  }
}
