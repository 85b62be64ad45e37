import type { ToolSetting } from '../../domain/assistant-config.ts'
import { readClientFunctions } from '../../domain/client-tools.ts'
import { cutText } from '../../domain/cut-text.ts'
import { parseOwnJson } from '../../domain/json.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import { type RunRecord, actingOf } from '../../domain/records/run.ts'
import { readCodeOverride, readSearchOverride } from '../../domain/run-overrides.ts'
import type { Collections } from '../collections.ts'
import type { AllowancesNow } from '../groups/allowances.ts'
import type { SecretBox } from '../secrets.ts'
import type { Tool } from '../tool.ts'
import type { ToolProblem, Tools, WantedTools } from '../tools/index.ts'
import { executedRunStore } from './store.ts'

interface ToolsOfRunDeps {
  collections: Pick<Collections, 'runs'>
  allowances: Pick<AllowancesNow, 'of'>
  secretBox: Pick<SecretBox, 'open'>
  tools: Pick<Tools, 'resolve'>
  /** Logs for the operator that a tool is left out. */
  onToolProblem(assistant: AssistantRecord, problem: ToolProblem): void
}

export type ToolsOfRun = ReturnType<typeof createToolsOfRun>

/** The tools of an assistant that a run is offered, and those that its client brings. */
export function createToolsOfRun({ collections, allowances, secretBox, tools, onToolProblem }: ToolsOfRunDeps) {
  return async (assistant: AssistantRecord, run: ToolsRun & LeftOutRun, signal: AbortSignal): Promise<Tool[]> => {
    const allowed = await allowances.of(run.user_id)
    const resolved = await tools.resolve(assistant, signal, { ...wantedTools(secretBox, run), allowed })
    for (const problem of resolved.problems) onToolProblem(assistant, problem)
    await noteLeftOut(collections, run, resolved.problems)
    return resolved.tools
  }
}

/** What decides which tools a run has. */
type ToolsRun = Pick<RunRecord, '_id' | 'user_id' | 'overrides' | 'acting' | 'public' | 'schedule_id' | 'asked_by'>

/** What a run wants of its assistant's tools. */
function wantedTools(secretBox: Pick<SecretBox, 'open'>, run: ToolsRun): WantedTools {
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

const maxWarnings = 20
const maxLength = 300

type LeftOutRun = Pick<RunRecord, '_id' | 'thread_id' | 'warnings'>

/**
 * Stores with a run which tools of its assistant were left out, and why, for the owner. The model answers without them, so
 * nobody would know otherwise. The reasons hold no secrets (`ToolProblem`).
 */
async function noteLeftOut(
  collections: Pick<Collections, 'runs'>,
  run: LeftOutRun,
  problems: ToolProblem[],
): Promise<void> {
  const warnings = problems
    .slice(0, maxWarnings)
    .map(({ type, name, problem }) => cutText(`${name === type ? type : `${type} ${name}`}: ${problem}`, maxLength))
    .filter((warning) => run.warnings?.includes(warning) !== true)
  if (warnings.length === 0 || (run.warnings?.length ?? 0) >= maxWarnings) return
  await executedRunStore(collections).addWarnings(run, warnings)
  run.warnings = [...(run.warnings ?? []), ...warnings]
}
