import type { Tracing } from '../../services/tracing.ts'
import type { ClosableTracing } from './otel-tracing.ts'

interface TracingSettings {
  /**
   * The address of a collector that takes OTLP over HTTP; spans go to `{address}/v1/traces`. Without it nothing is
   * traced.
   */
  otlpEndpoint?: string | undefined
}

/** OpenTelemetry is loaded only if there is a collector. */
export async function createTracing({ otlpEndpoint }: TracingSettings): Promise<ClosableTracing> {
  if (otlpEndpoint === undefined) return { ...noTracing, close: async () => undefined }
  const { createOtelTracing } = await import('./otel-tracing.ts')
  return createOtelTracing(otlpEndpoint)
}

/** Traces nothing. */
const noTracing: Tracing = {
  chat: (_run, _facts, ask) => ask(),
  tool: (_run, _facts, execute) => execute(),
  begun: () => undefined,
  ended: () => undefined,
  request: () => undefined,
  currentTraceparent: () => undefined,
}
