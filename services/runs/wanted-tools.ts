import { toolTypes } from '../../domain/assistant-config.ts'
import { readClientFunctions } from '../../domain/client-tools.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { WantedTools } from '../tools/resolve-tools.ts'

/** Public callers do not know the functions of the assistant's own client, and could not answer their calls. */
const publicTypes = toolTypes.filter((type) => type !== 'client')

/** What a run wants of its assistant's tools. */
export function wantedTools({ overrides, public: isPublic }: Pick<RunRecord, 'overrides' | 'public'>): WantedTools {
  const types = overrides.server_tools ?? (isPublic ? publicTypes : undefined)
  return { ...(types === undefined ? {} : { types }), functions: readClientFunctions(overrides.tools_json) }
}
