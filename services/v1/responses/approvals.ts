import type { ToolSetting } from '../../../domain/assistant-config.ts'
import { toolName } from '../../../domain/client-tools.ts'

/** Some of the tools of an MCP server; one that names nothing means none. */
export interface ToolFilter {
  names?: string[] | undefined
  /** Tools that say of themselves that they change nothing, or the others. */
  readOnly?: boolean | undefined
}

/** Which calls of a server's tools a person must allow. */
export type ApprovalRule = 'always' | 'never' | { always?: ToolFilter | undefined; never?: ToolFilter | undefined }

interface OfferedTool {
  name: string
  annotations?: { readOnlyHint?: boolean | undefined } | undefined
}

/** Tools that neither list names need approval, unless only those are named that do. */
export function needsApproval(rule: ApprovalRule, tool: OfferedTool): boolean {
  if (typeof rule === 'string') return rule === 'always'
  const { always, never } = rule
  if (isIn(always, tool)) return true
  if (isIn(never, tool)) return false
  return always === undefined || never !== undefined
}

function isIn(filter: ToolFilter | undefined, { name, annotations }: OfferedTool): boolean {
  if (filter === undefined || (filter.names === undefined && filter.readOnly === undefined)) return false
  const isNamed = filter.names?.includes(name) ?? true
  return isNamed && (filter.readOnly === undefined || (annotations?.readOnlyHint === true) === filter.readOnly)
}

/** A server with the tools that it offers: those whose calls a person must allow, and the others. */
export function settingsOfServer<Config extends { name: string }>(
  config: Config,
  rule: ApprovalRule,
  offered: OfferedTool[],
): { settings: ToolSetting[]; approvals: string[] } {
  const asking = offered.filter((tool) => needsApproval(rule, tool)).map(({ name }) => name)
  const others = offered.map(({ name }) => name).filter((name) => !asking.includes(name))
  const setting = (allowed: string[]) => ({
    type: 'mcp' as const,
    name: config.name,
    config: { ...config, allowed_tools: allowed },
  })
  // Without approvals the list is that of the request, so that a tool that the server adds meanwhile is there.
  if (asking.length === 0)
    return { settings: [{ type: 'mcp', name: config.name, config: { ...config } }], approvals: [] }
  return {
    settings: [{ ...setting(asking), ask: true }, ...(others.length === 0 ? [] : [setting(others)])],
    approvals: asking.map((name) => toolName(`${config.name}_${name}`)),
  }
}
