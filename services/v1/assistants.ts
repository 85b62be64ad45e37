import type { AssistantSettings } from '../../domain/assistant-config.ts'
import type { DeletionResult } from '../../domain/contracts/deletion.ts'
import { newId } from '../../domain/ids.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { AssistantConfigs } from '../assistants/configs.ts'
import type { Assistants } from '../assistants/index.ts'
import type { PageQuery } from '../cursor-page.ts'
import type { NewEntry } from '../knowledge/add-entries.ts'
import type { ProjectFiles } from '../knowledge/project-files.ts'
import type { VectorStoreMembers, VectorStores } from '../knowledge/vector-stores.ts'
import type { ModelsNow } from '../models/live-models.ts'
import { type Caller, type Owner, holderOf, mayEdit, ownerOf } from '../owner.ts'
import type { Page } from '../page.ts'
import {
  type AssistantMembers,
  type AssistantTool,
  newAssistant,
  requireCode,
  toTools,
  withMembers,
} from './assistant-members.ts'
import type { CreateStore } from './create-store.ts'

interface V1AssistantsDeps {
  assistants: Pick<Assistants, 'createUnder' | 'change' | 'readIn' | 'page'>
  configs: Pick<AssistantConfigs, 'settingsOf'>
  deletions: { deleteAssistant(owner: Owner, assistantId: string): Promise<DeletionResult> }
  vectorStores: Pick<VectorStores, 'find' | 'remove'>
  createStore: CreateStore
  models: ModelsNow
  files: Pick<ProjectFiles, 'find'>
  /** Whether code is executed here. */
  canExecute: boolean
}

/** A vector store that is made together with the assistant which searches it. */
export interface OwnStore extends VectorStoreMembers {
  files: NewEntry[]
}

/** An assistant as the assistants API shows it. */
export interface V1Assistant {
  id: string
  createdAt: Date
  name: string
  description: string
  instructions: string
  model: string
  temperature: number | undefined
  topP: number | undefined
  responseFormat: AssistantSettings['responseFormat']
  reasoningEffort: AssistantSettings['reasoningEffort']
  tools: AssistantTool[]
  vectorStores: string[]
  codeFiles: string[]
  metadata: Record<string, string>
}

const hidden = {
  instructions: '',
  temperature: undefined,
  topP: undefined,
  responseFormat: undefined,
  reasoningEffort: undefined,
  tools: [],
  vectorStores: [],
  codeFiles: [],
  metadata: {},
} satisfies Partial<V1Assistant>

/** The assistants of a project. Members that the assistants API does not know stay as they are. */
export function createV1Assistants(deps: V1AssistantsDeps) {
  const { assistants, configs, deletions, vectorStores, createStore, models } = deps

  /** Searches leave out stores that are gone, and sessions files; naming one is a mistake. */
  async function requireMembers(caller: Caller, members: AssistantMembers): Promise<void> {
    requireCode(members.tools, deps.canExecute)
    for (const id of members.vectorStores ?? []) await vectorStores.find(caller, id)
    const { files: projectFiles } = deps
    for (const id of members.codeFiles ?? []) await projectFiles.find(caller, id)
  }

  /** Who may not edit the project sees what the native API shows him, and the model, which runs show in any case. */
  function toV1Assistant(caller: Caller, assistant: AssistantRecord): V1Assistant {
    const whole = shown(assistant)
    if (mayEdit(caller)) return whole
    const { id, createdAt, name, description, model } = whole
    return { ...hidden, id, createdAt, name, description, model }
  }

  function shown(assistant: AssistantRecord): V1Assistant {
    const settings = configs.settingsOf(assistant)
    return {
      id: assistant._id,
      createdAt: assistant.created_at,
      name: assistant.name,
      description: settings.description,
      instructions: settings.systemMessage,
      model: settings.model ?? models.current().defaultModel,
      temperature: settings.temperature,
      topP: settings.topP,
      responseFormat: settings.responseFormat,
      reasoningEffort: settings.reasoningEffort,
      tools: toTools(settings.tools),
      vectorStores: settings.vectorStores,
      codeFiles: settings.codeFiles,
      metadata: settings.metadata,
    }
  }

  return {
    /** `ownStore`: a vector store that is made for the assistant. */
    async create(
      caller: Caller,
      { ownStore, ...members }: AssistantMembers & { ownStore?: OwnStore | undefined },
      id: string = newId(),
    ): Promise<V1Assistant> {
      await requireMembers(caller, members)
      newAssistant(members)
      if (ownStore === undefined)
        return shown(await assistants.createUnder(holderOf(caller), id, newAssistant(members)))
      const { files, ...facts } = ownStore
      const { _id: storeId } = await createStore(caller, facts, files)
      try {
        return shown(
          await assistants.createUnder(holderOf(caller), id, newAssistant({ ...members, vectorStores: [storeId] })),
        )
      } catch (error) {
        await vectorStores.remove(caller, storeId)
        throw error
      }
    },

    /** For runs. `tools` are all that it has, `shown` what the caller may see. */
    async find(
      caller: Caller,
      id: string,
    ): Promise<{ record: AssistantRecord; tools: AssistantTool[]; shown: V1Assistant }> {
      const record = await assistants.readIn(caller, id)
      return { record, tools: shown(record).tools, shown: toV1Assistant(caller, record) }
    },

    read: async (caller: Caller, id: string): Promise<V1Assistant> =>
      toV1Assistant(caller, await assistants.readIn(caller, id)),

    /** Changes the given members. */
    async update(caller: Caller, id: string, members: AssistantMembers): Promise<V1Assistant> {
      await requireMembers(caller, members)
      return shown(await assistants.change(holderOf(caller), id, (current) => withMembers(current, members)))
    },

    async list(caller: Caller, query: PageQuery): Promise<Page<V1Assistant>> {
      const { entries, hasMore } = await assistants.page(caller, query)
      return { entries: entries.map((assistant) => toV1Assistant(caller, assistant)), hasMore }
    },

    async remove(caller: Caller, id: string): Promise<DeletionResult> {
      await assistants.readIn(caller, id)
      return deletions.deleteAssistant(ownerOf(caller), id)
    },
  }
}
