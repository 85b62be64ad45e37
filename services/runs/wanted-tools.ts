import type { ToolSetting } from '../../domain/assistant-config.ts'
import { readClientFunctions } from '../../domain/client-tools.ts'
import { type RunRecord, actingOf } from '../../domain/records/run.ts'
import { readCodeOverride } from '../../domain/code-override.ts'
import { readSearchOverride } from '../../domain/search-override.ts'
import { parseOwnJson } from '../../domain/own-json.ts'
import type { SecretBox } from '../secrets.ts'
import type { WantedTools } from '../tools/resolve-tools.ts'

/** What decides which tools a run has. */
export type ToolsRun = Pick<
  RunRecord,
  '_id' | 'user_id' | 'overrides' | 'acting' | 'public' | 'schedule_id' | 'asked_by'
>

/** What a run wants of its assistant's tools. */
export function wantedTools(secretBox: Pick<SecretBox, 'open'>, run: ToolsRun): WantedTools {
  const { server_tools: types, added_tools_sealed: sealed, search_json, code_json, tools_json } = run.overrides
  return {
    acting: actingOf(run),
    ...(types === undefined ? {} : { types }),
    ...(sealed === undefined ? {} : { added: parseOwnJson<ToolSetting[]>(secretBox.open(sealed, run._id)) }),
    search: readSearchOverride(search_json),
    code: readCodeOverride(code_json),
    functions: readClientFunctions(tools_json),
  }
}
