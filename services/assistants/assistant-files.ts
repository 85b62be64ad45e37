import { v5 } from 'uuid'
import { readAssistantConfig, vectorStoresKey, toolsKey } from '../../domain/assistant-config.ts'
import {
  type ReadFile,
  type Sources,
  AssistantFileError,
  appliedConfig,
  configText,
  maxSourceFiles,
  unsetSecrets,
} from '../../domain/assistant-file/assistant-file.ts'
import { fromAssistantYaml, toAssistantYaml } from '../../domain/assistant-file/assistant-yaml.ts'
import { maxAskable } from '../../domain/assistant-tool.ts'
import { AppError, invalidInput } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { objectFromJsonText, isJsonObject } from '../../domain/json.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import type { Caller, Owner } from '../owner.ts'
import { fileStore } from '../stores/files.ts'
import type { AssistantConfigs } from './configs.ts'
import type { Assistants } from './index.ts'
import { ownAssistantStore } from './store.ts'

interface AssistantFilesDeps {
  collections: Pick<Collections, 'assistants' | 'files'>
  assistants: Pick<Assistants, 'readOwn' | 'named' | 'createUnder' | 'change'>
  assistantConfigs: Pick<AssistantConfigs, 'textOf'>
}

interface Applied {
  assistant: AssistantRecord
  outcome: 'created' | 'changed' | 'unchanged'
  missingSecrets: string[]
  /** Files that the assistant should have and has not. */
  missingFiles: NonNullable<Sources['files']>
}

/**
 * An assistant as a file: YAML that a person can read, keep under version control, and apply again. A file means the
 * assistant of its name in the token's project (docs/decisions/2026-11-25-assistants-as-files.md).
 */
export function createAssistantFiles({ collections, assistants, assistantConfigs }: AssistantFilesDeps) {
  const { filesOf, storesOf, storeIds } = createFileSources(collections)
  const { withNames, withIds } = createDelegateNames(collections)
  const configOf = (assistant: AssistantRecord) => objectFromJsonText(assistantConfigs.textOf(assistant))

  return {
    /** The owner's assistant as YAML, without its secrets. */
    async write(owner: Owner, assistantId: string): Promise<string> {
      const assistant = await assistants.readOwn(owner, assistantId)
      const config = configOf(assistant)
      const [files, stores] = await Promise.all([
        filesOf(assistantId),
        storesOf(assistant.project_id, {
          _id: { $in: readAssistantConfig(assistantConfigs.textOf(assistant)).vectorStores },
        }),
      ])
      const sources: Sources = {
        ...(files.length > 0 && { files: files.map(({ name, sha256, size }) => ({ name, sha256, bytes: size })) }),
        ...(stores.length > 0 && { vector_stores: stores.map(({ name }) => name) }),
      }
      return toAssistantYaml({ name: assistant.name, config: await withNames(assistant.project_id, config), sources })
    },

    /** Makes the assistant that the file describes, or changes it. Applying the same file again changes nothing. */
    async apply(caller: Caller, text: string): Promise<Applied> {
      const given = readFile(text)
      const file = { ...given, config: await withIds(caller.projectId, given.config) }
      const [known, second] = await assistants.named(caller, file.name)
      if (second !== undefined)
        throw new AppError('conflict', `Several assistants of this project are called “${file.name}”: rename one.`)
      const stores = await storeIds(caller, file.sources)
      const { assistant, outcome } =
        known === undefined ? await create(caller, file, stores) : await change(caller, known, file, stores)
      const present = new Set((await filesOf(assistant._id)).map(({ sha256, name }) => [sha256, name]).flat())
      return {
        assistant,
        outcome,
        missingSecrets: unsetSecrets(file.missing, configOf(assistant)),
        missingFiles: (file.sources.files ?? []).filter(({ name, sha256 = name }) => !present.has(sha256)),
      }
    },
  }

  /** Two requests with the same file make one assistant, because both give it the same id. */
  async function create(
    caller: Caller,
    file: ReadFile,
    stores: string[],
  ): Promise<Pick<Applied, 'assistant' | 'outcome'>> {
    const payload = { name: file.name, config: configWith({}, file, stores) }
    const id = v5(`assistant\n${caller.projectId}\n${file.name}`, v5.URL)
    try {
      return { assistant: await assistants.createUnder(caller, id, payload), outcome: 'created' }
    } catch (error) {
      if (!isDuplicateKey(error)) throw error
      const [known] = await assistants.named(caller, file.name)
      if (known !== undefined) return change(caller, known, file, stores)
      // The assistant that was made of such a file has another name or another project now, or is being deleted.
      return { assistant: await assistants.createUnder(caller, newId(), payload), outcome: 'created' }
    }
  }

  async function change(
    caller: Caller,
    known: AssistantRecord,
    file: ReadFile,
    stores: string[],
  ): Promise<Pick<Applied, 'assistant' | 'outcome'>> {
    const current = configOf(known)
    if (configText(configWith(current, file, stores)) === configText(current))
      return { assistant: known, outcome: 'unchanged' }
    const assistant = await assistants.change(caller, known._id, ({ name, config }) => ({
      name,
      config: configWith(config, file, stores),
    }))
    return { assistant, outcome: 'changed' }
  }
}

function configWith(current: Record<string, unknown>, file: ReadFile, stores: string[]): Record<string, unknown> {
  const { [vectorStoresKey]: _before, ...rest } = appliedConfig(current, file.config)
  return stores.length === 0 ? rest : { ...rest, [vectorStoresKey]: stores }
}

function readFile(text: string): ReadFile {
  try {
    return fromAssistantYaml(text)
  } catch (error) {
    if (error instanceof AssistantFileError) throw invalidInput(['body', 'file', ...error.path], error.message)
    throw error
  }
}

/** What an assistant file says about the assistant's sources. */
function createFileSources(collections: Pick<Collections, 'assistants' | 'files'>) {
  const { listNamedStores: storesOf } = ownAssistantStore(collections)

  return {
    /** Processed files, oldest first; more than a file can name are left out. */
    filesOf: (assistantId: string) => fileStore(collections).listSources(assistantId, maxSourceFiles),

    storesOf,

    /** The ids of the vector stores that the file names; of those with the same name, the oldest. */
    async storeIds({ projectId }: Caller, { vector_stores: names = [] }: Sources): Promise<string[]> {
      if (names.length === 0) return []
      const found = await storesOf(projectId, { name: { $in: names } })
      return names.map((name) => {
        const store = found.find((candidate) => candidate.name === name)
        if (store === undefined)
          throw invalidInput(['body', 'file', 'sources', 'vector_stores'], `this project has no vector store “${name}”`)
        return store._id
      })
    },
  }
}

type Config = Record<string, unknown>

/**
 * The tool `assistant` in a file of an assistant: ids mean nothing elsewhere, so a file has the names of the assistants
 * that may be asked, as `config: {assistants: […]}`.
 */
function createDelegateNames(collections: Pick<Collections, 'assistants'>) {
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
      return mapped(config, 'assistants', ({ assistants: list, ...rest }, position) => ({
        ...rest,
        assistant_ids: textsIn(list).map((name, index) => {
          const [known, second] = found.filter((candidate) => candidate.name === name)
          const refuse = (message: string) =>
            invalidInput(['body', 'file', 'tools', position, 'config', 'assistants', index], message)
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

function mapped(config: Config, member: string, change: (config: Config, index: number) => Config): Config {
  const tools = config[toolsKey]
  if (!Array.isArray(tools)) return config
  const changed = tools.map((tool: unknown, index) => {
    const own = configOf(tool)
    return own !== undefined && Object.hasOwn(own, member) && isJsonObject(tool)
      ? { ...tool, config: change(own, index) }
      : tool
  })
  return { ...config, [toolsKey]: changed }
}

function configOf(tool: unknown): Config | undefined {
  if (!isJsonObject(tool) || tool['type'] !== 'assistant') return undefined
  const config = tool['config']
  return isJsonObject(config) ? config : undefined
}
