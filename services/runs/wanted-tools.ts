import type { ToolSetting } from '../../domain/assistant-config.ts'
import { type ToolType, toolTypes } from '../../domain/tool-types.ts'
import { readClientFunctions } from '../../domain/client-tools.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import { readSearchOverride } from '../../domain/search-override.ts'
import { parseOwnJson } from '../../domain/own-json.ts'
import type { SecretBox } from '../secrets.ts'
import type { WantedTools } from '../tools/resolve-tools.ts'

/** What decides which tools a run has. */
export type ToolsRun = Pick<RunRecord, '_id' | 'overrides' | 'public' | 'schedule_id' | 'asked_by' | 'end_user'>

/**
 * Public callers do not know the functions of the assistant's own client, and could not answer their calls. They make no
 * schedules at its owner's cost.
 */
const notForPublic: readonly ToolType[] = ['client', 'schedule']
/** Of callers who say no name, nobody knows whose facts they could be given. */
const notForNameless: readonly ToolType[] = ['memory']
/** A run that a schedule started makes no schedules: they would multiply while nobody looks. */
const notForSchedules: readonly ToolType[] = ['schedule']

/** An assistant that answers another one has no client, and nobody sees what it would do later. */
const notForAsked: readonly ToolType[] = ['client', 'schedule']

/** What a run wants of its assistant's tools. */
export function wantedTools(
  secretBox: Pick<SecretBox, 'open'>,
  { _id, overrides, public: isPublic, schedule_id: scheduleId, asked_by: askedBy, end_user: endUser }: ToolsRun,
): WantedTools {
  const refused = [
    ...(isPublic ? notForPublic : []),
    ...(isPublic && endUser === undefined ? notForNameless : []),
    ...(scheduleId === undefined ? [] : notForSchedules),
    ...(askedBy === undefined ? [] : notForAsked),
  ]
  const types = (overrides.server_tools ?? toolTypes).filter((type) => !refused.includes(type))
  const { added_tools_sealed: sealed } = overrides
  return {
    types,
    endUser,
    ...(sealed === undefined ? {} : { added: parseOwnJson<ToolSetting[]>(secretBox.open(sealed, _id)) }),
    search: readSearchOverride(overrides.search_json),
    functions: readClientFunctions(overrides.tools_json),
  }
}
