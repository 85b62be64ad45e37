import type { ToolSetting } from '../../../domain/assistant-config.ts'
import { toolName } from '../../../domain/client-tools.ts'
import { AppError } from '../../../domain/errors.ts'
import { isOpenRun } from '../../../domain/records/run.ts'
import { itemPositionOf, responseId } from '../../../domain/responses/ids.ts'
import type { Collections } from '../../collections.ts'
import type { Caller } from '../../owner.ts'
import { toolCallStore } from '../../stores/tool-calls.ts'
import { responseStore } from '../store.ts'

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

/** What every id of a call that a person has allowed begins with; such calls have ids that no model gives. */
export const allowedCallPrefix = (runId: string): string => `call_${runId}_`

/**
 * Lets one response make the calls that a person has allowed, however many requests carry the decision: the run that asked
 * names the run that makes each of them. Throws `conflict` if another one makes it or has made it; one that ended before it
 * did leaves the call to the next. The result gives them back, for a run that is not stored.
 */
export function createClaimCalls(collections: Pick<Collections, 'runs' | 'toolCalls'>) {
  const responses = responseStore(collections)

  /** A run that cannot be read is not known to have made nothing. */
  async function mayHaveMade(caller: Caller, runId: string): Promise<boolean> {
    const run = await responses.findForApproval(caller, runId)
    if (run === null || isOpenRun(run)) return true
    const calls = await toolCallStore(collections).listMade(run)
    return calls.some(({ call_id: id }) => id.startsWith(allowedCallPrefix(runId)))
  }

  /** `requestIds`: of the items that asked. Those of a client that keeps them itself have no run here. */
  return async (caller: Caller, requestIds: string[], runId: string): Promise<() => Promise<void>> => {
    const taken: (() => Promise<unknown>)[] = []
    const takeBack = async () => {
      for (const back of taken) await back()
    }
    try {
      for (const requestId of requestIds) {
        const position = itemPositionOf(requestId)
        if (position === undefined) continue
        const asking = await responses.findForApproval(caller, position.entryId)
        if (asking === null) continue
        const name = `${position.messageId}_${position.call ?? 0}`
        const known = asking.allowed_calls?.[name]
        if (known === runId) continue
        if (known !== undefined && (await mayHaveMade(caller, known))) throw madeElsewhere(known)
        if (!(await responses.claimCall(caller.userId, asking, name, known, runId))) throw madeElsewhere()
        taken.push(() => responses.releaseCall(caller.userId, asking, name, runId))
      }
    } catch (error) {
      await takeBack()
      throw error
    }
    return takeBack
  }
}

function madeElsewhere(runId?: string): AppError {
  const where = runId === undefined ? 'another response' : `the response ${responseId(runId)}`
  return new AppError('conflict', `The call that this request allows is made by ${where}: continue from that one.`)
}
