/** The kinds of tools that an assistant can have. */
export const toolTypes = [
  'retrieval',
  'http_request',
  'mcp',
  'web_search',
  'schedule',
  'memory',
  'assistant',
  'code',
  'client',
] as const
export type ToolType = (typeof toolTypes)[number]
