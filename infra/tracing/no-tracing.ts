import type { Tracing } from '../../services/tracing.ts'

/** Traces nothing. */
export const noTracing: Tracing = {
  chat: (_run, _facts, ask) => ask(),
  tool: (_run, _facts, execute) => execute(),
  begun: () => undefined,
  ended: () => undefined,
  request: () => undefined,
  currentTraceparent: () => undefined,
}
