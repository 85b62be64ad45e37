import { readClientFunctions } from '../../domain/client-tools.ts'
import type { RunOverrides } from '../../domain/records/run.ts'
import type { WantedTools } from '../tools/resolve-tools.ts'

/** What a run wants of its assistant's tools. */
export function wantedTools({ server_tools: types, tools_json: functions }: RunOverrides): WantedTools {
  return { ...(types === undefined ? {} : { types }), functions: readClientFunctions(functions) }
}
