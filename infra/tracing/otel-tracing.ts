import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, type IdGenerator, RandomIdGenerator, TracerProvider } from '@opentelemetry/sdk-trace'
import { AppError } from '../../domain/errors.ts'
import { ModelFailure } from '../../domain/model-failure.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { TracedRun, Tracing, ChatFacts, ChatResult, ToolFacts } from '../../services/tracing.ts'
import { within } from '../../services/within.ts'

export type ClosableTracing = Tracing & { close(): Promise<void> }

const exportTimeoutMs = 5000
const closeTimeoutMs = 5000

/**
 * Spans by OpenTelemetry, sent in batches as OTLP/JSON. If the collector is away, spans are lost and nothing else
 * happens.
 */
export function createOtelTracing(otlpEndpoint: string): ClosableTracing {
  const ids = createIds()
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'assistant-platform', 'service.version': '1.0.0' }),
    idGenerator: ids.generator,
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ url: `${otlpEndpoint}/v1/traces`, timeoutMillis: exportTimeoutMs }),
        scheduledDelayMillis: 1000,
        exportTimeoutMillis: exportTimeoutMs,
      }),
    ],
  })
  const tracer = provider.getTracer('assistant-platform')
  const current = new AsyncLocalStorage<string>()

  async function spanned<T>(
    run: TracedRun,
    name: string,
    kind: SpanKind,
    attributes: Attributes,
    work: (span: Span) => Promise<T>,
  ): Promise<T> {
    const span = tracer.startSpan(name, { kind, attributes }, contextOf(runSpanContext(run)))
    try {
      return await work(span)
    } catch (error) {
      span.setAttribute('error.type', errorType(error)).setStatus({ code: SpanStatusCode.ERROR })
      throw error
    } finally {
      span.end()
    }
  }

  return {
    chat: (run, facts, ask, resultOf) =>
      spanned(run, `chat ${facts.model}`, SpanKind.CLIENT, chatAttributes(run, facts), async (span) => {
        const answer = await ask()
        span.setAttributes(chatResultAttributes(resultOf(answer)))
        return answer
      }),

    tool: (run, facts, execute) =>
      spanned(run, `execute_tool ${facts.name}`, SpanKind.INTERNAL, toolAttributes(run, facts), execute),

    begun: () => undefined,

    ended(run) {
      const parent = parseTraceparent(run.traceparent)
      const options = { kind: SpanKind.INTERNAL, startTime: run.created_at, attributes: runAttributes(run) }
      const span = ids.withIds(runSpanContext(run), () => tracer.startSpan('invoke_agent', options, contextOf(parent)))
      if (run.status !== 'success') span.setStatus({ code: SpanStatusCode.ERROR })
      span.end(run.finished_at)
    },

    request(traceparent) {
      const parent = parseTraceparent(traceparent)
      const span = tracer.startSpan('request', { kind: SpanKind.SERVER }, contextOf(parent))
      return {
        traceId: span.spanContext().traceId,
        within: (work) => current.run(formatTraceparent(span.spanContext()), work),
        end({ method, route, operation, status }) {
          span.updateName(route === undefined ? method : `${method} ${route}`)
          span.setAttributes({
            'http.request.method': method,
            'http.response.status_code': status,
            ...(route === undefined ? {} : { 'http.route': route }),
            ...(operation === undefined ? {} : { 'assistant_platform.operation': operation }),
          })
          if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
          span.end()
        },
      }
    },

    currentTraceparent: () => current.getStore(),

    async close() {
      await within(
        closeTimeoutMs,
        provider.shutdown().catch(() => undefined),
      )
    },
  }
}

/** Only the kind of an error, because its message may contain anything. */
function errorType(error: unknown): string {
  if (error instanceof ModelFailure) return error.type
  if (error instanceof AppError) return error.code
  return error instanceof Error ? error.name : typeof error
}

/** Reads a `traceparent` (W3C Trace Context, version 00); undefined if it is invalid. */
function parseTraceparent(text: string | undefined): SpanContext | undefined {
  const parts = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(text ?? '')
  const [, traceId, spanId, flags] = parts ?? []
  if (!traceId || !spanId || !flags || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true }
}

function formatTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

function contextOf(parent: SpanContext | undefined): Context {
  return parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent)
}

/**
 * The context of a run's own span. Steps may run in several processes, and the process that ends the run sends the
 * span: so its id is made from the run's id.
 */
function runSpanContext(run: TracedRun): SpanContext {
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
function createIds() {
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

/**
 * Names of the OpenTelemetry semantic conventions for generative AI (`gen_ai.*`). The `langsmith.*`
 * names make a run of ours a run of LangSmith under the same id, so that feedback finds it.
 */
const shared = (run: TracedRun): Attributes => ({
  'gen_ai.conversation.id': run.thread_id,
  'gen_ai.agent.id': run.assistant_id,
  'assistant_platform.run.id': run._id,
})

function runAttributes(run: RunRecord): Attributes {
  return {
    ...shared(run),
    'gen_ai.operation.name': 'invoke_agent',
    'user.id': run.user_id,
    'assistant_platform.project.id': run.project_id,
    'assistant_platform.run.status': run.status,
    'assistant_platform.run.public': run.public,
    'langsmith.trace.id': run._id,
    'langsmith.span.id': run._id,
    'langsmith.span.kind': 'chain',
    ...(run.usage
      ? {
          'gen_ai.usage.input_tokens': run.usage.prompt_tokens,
          'gen_ai.usage.output_tokens': run.usage.completion_tokens,
        }
      : {}),
    ...(run.error ? { 'error.type': run.error.type } : {}),
  }
}

function chatAttributes(run: TracedRun, { model, step, temperature, maxTokens }: ChatFacts): Attributes {
  return {
    ...shared(run),
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': model,
    'assistant_platform.run.step': step,
    'langsmith.trace.id': run._id,
    'langsmith.span.kind': 'llm',
    ...(temperature === undefined ? {} : { 'gen_ai.request.temperature': temperature }),
    ...(maxTokens === undefined ? {} : { 'gen_ai.request.max_tokens': maxTokens }),
  }
}

function chatResultAttributes({ model, usage, finishReason }: ChatResult): Attributes {
  return {
    'gen_ai.response.model': model,
    'gen_ai.response.finish_reasons': [finishReason],
    ...(usage
      ? { 'gen_ai.usage.input_tokens': usage.prompt_tokens, 'gen_ai.usage.output_tokens': usage.completion_tokens }
      : {}),
  }
}

function toolAttributes(run: TracedRun, { name, type, callId, step }: ToolFacts): Attributes {
  return {
    ...shared(run),
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.call.id': callId,
    'gen_ai.tool.type': type === 'retrieval' ? 'datastore' : 'extension',
    'assistant_platform.run.step': step,
    'langsmith.trace.id': run._id,
    'langsmith.span.kind': 'tool',
  }
}
