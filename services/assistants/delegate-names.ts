import { toolsKey } from '../../domain/assistant-config.ts'
import { maxAskable } from '../../domain/assistant-tool.ts'
import { invalidInput } from '../../domain/errors.ts'
import { isJsonObject } from '../../domain/json.ts'
import type { Collections } from '../collections.ts'
import { ownAssistantStore } from './store.ts'

type Config = Record<string, unknown>

/**
 * The tool `assistant` in a file of an assistant: ids mean nothing elsewhere, so a file has the names of the assistants
 * that may be asked, as `config: {assistants: […]}`.
 */
export function createDelegateNames(collections: Pick<Collections, 'assistants'>) {
  const store = ownAssistantStore(collections)

  return {
    /** The configuration with names in place of ids. Assistants that are gone are left out. */
    async withNames(projectId: string, config: Config): Promise<Config> {
      const ids = toolConfigs(config).flatMap(({ assistant_ids: list }) => textsIn(list))
      if (ids.length === 0) return config
      const found = await store.listNamed(projectId, { _id: { $in: ids } })
      return mapped(config, 'assistant_ids', ({ assistant_ids: list, ...rest }) => ({
        ...rest,
        assistants: textsIn(list).flatMap((id) => found.find(({ _id }) => _id === id)?.name ?? []),
      }))
    },

    /**
     * The configuration with ids in place of names. Throws `invalid_input` for a name that no assistant, or several,
     * have.
     */
    async withIds(projectId: string, config: Config): Promise<Config> {
      const names = toolConfigs(config).flatMap(({ assistants: list }) => textsIn(list))
      if (names.length === 0) return config
      const found = await store.listNamed(projectId, { name: { $in: names } })
      return mapped(config, 'assistants', ({ assistants: list, ...rest }, place) => ({
        ...rest,
        assistant_ids: textsIn(list).map((name, index) => {
          const [known, second] = found.filter((candidate) => candidate.name === name)
          const refuse = (words: string) =>
            invalidInput(['body', 'file', 'tools', place, 'config', 'assistants', index], words)
          if (known === undefined) throw refuse(`this project has no assistant “${name}”`)
          if (second !== undefined) throw refuse(`several assistants of this project are called “${name}”`)
          return known._id
        }),
      }))
    },
  }
}

const textsIn = (value: unknown): string[] =>
  (Array.isArray(value) ? value : []).slice(0, maxAskable).filter((entry): entry is string => typeof entry === 'string')

function toolConfigs(config: Config): Config[] {
  const tools = config[toolsKey]
  return (Array.isArray(tools) ? tools : []).flatMap((tool: unknown): Config[] => {
    const own = configOf(tool)
    return own === undefined ? [] : [own]
  })
}

function mapped(config: Config, member: string, change: (config: Config, place: number) => Config): Config {
  const tools = config[toolsKey]
  if (!Array.isArray(tools)) return config
  const changed = tools.map((tool: unknown, place) => {
    const own = configOf(tool)
    return own !== undefined && Object.hasOwn(own, member) && isJsonObject(tool)
      ? { ...tool, config: change(own, place) }
      : tool
  })
  return { ...config, [toolsKey]: changed }
}

function configOf(tool: unknown): Config | undefined {
  if (!isJsonObject(tool) || tool['type'] !== 'assistant') return undefined
  const config = tool['config']
  return isJsonObject(config) ? config : undefined
}
