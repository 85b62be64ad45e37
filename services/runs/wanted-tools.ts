import type { ToolSetting } from '../../domain/assistant-config.ts'
import { toolTypes } from '../../domain/tool-types.ts'
import { readClientFunctions } from '../../domain/client-tools.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import { readSearchOverride } from '../../domain/search-override.ts'
import { parseOwnJson } from '../../domain/own-json.ts'
import type { SecretBox } from '../secrets.ts'
import type { WantedTools } from '../tools/resolve-tools.ts'

/** Public callers do not know the functions of the assistant's own client, and could not answer their calls. */
const publicTypes = toolTypes.filter((type) => type !== 'client')

/** What a run wants of its assistant's tools. */
export function wantedTools(
  secretBox: Pick<SecretBox, 'open'>,
  { _id, overrides, public: isPublic }: Pick<RunRecord, '_id' | 'overrides' | 'public'>,
): WantedTools {
  const types = overrides.server_tools ?? (isPublic ? publicTypes : undefined)
  const { added_tools_sealed: sealed } = overrides
  return {
    ...(types === undefined ? {} : { types }),
    ...(sealed === undefined ? {} : { added: parseOwnJson<ToolSetting[]>(secretBox.open(sealed, _id)) }),
    search: readSearchOverride(overrides.search_json),
    functions: readClientFunctions(overrides.tools_json),
  }
}
