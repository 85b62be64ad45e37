import { Value } from 'typebox/value'
import { type ToolSetting, readAssistantConfig, toolsKey } from '../../domain/assistant-config.ts'
import { AssistantToolConfig } from '../../domain/assistant-tool.ts'
import { type AppError, invalidInput } from '../../domain/errors.ts'
import type { Collections } from '../collections.ts'
import { ownAssistantStore } from './store.ts'

interface Written {
  userId: string
  projectId: string
  assistantId: string
  configText: string
  /** The configuration before, if there is one. Ids that it has stay, because an assistant may be deleted since. */
  before?: string | undefined
}

/** Refuses, by its member, an id in a tool `assistant` that is not another assistant of the same project. */
export async function requireAskable(
  collections: Pick<Collections, 'assistants'>,
  { userId, projectId, assistantId, configText, before }: Written,
): Promise<void> {
  const known = new Set(before === undefined ? [] : askableIdsOf(readAssistantConfig(before).tools))
  const { tools } = readAssistantConfig(configText)
  const wanted = askableIdsOf(tools).filter((id) => !known.has(id))
  const found = new Set(
    wanted.length === 0 ? [] : await ownAssistantStore(collections).askableOf({ userId, projectId }, wanted),
  )
  for (const [place, { type, config = {} }] of tools.entries()) {
    if (type !== 'assistant') continue
    if (!Value.Check(AssistantToolConfig, config)) throw mismatch(place, config)
    for (const [index, id] of config.assistant_ids.entries()) {
      const refuse = (words: string) => invalidInput([...locOf(place), 'assistant_ids', index], words)
      if (id === assistantId) throw refuse('an assistant cannot ask itself')
      if (!known.has(id) && !found.has(id)) throw refuse('this project has no such assistant')
    }
  }
}

const locOf = (place: number) => ['body', 'config', toolsKey, place, 'config']

function mismatch(place: number, config: object): AppError {
  const [error] = Value.Errors(AssistantToolConfig, config)
  const path = (error?.instancePath ?? '').split('/').slice(1)
  return invalidInput([...locOf(place), ...path], error?.message ?? 'is not valid')
}

function askableIdsOf(tools: ToolSetting[]): string[] {
  return tools.flatMap(({ type, config = {} }) =>
    type === 'assistant' && Value.Check(AssistantToolConfig, config) ? config.assistant_ids : [],
  )
}
