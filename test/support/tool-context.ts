import { newId } from '../../domain/ids.ts'
import type { ToolContext } from '../../services/tool.ts'

/** For a tool that is called without a run. */
export const toolContext = (signal: AbortSignal = new AbortController().signal): ToolContext => ({
  signal,
  call: { key: newId(), isApproved: false },
})
