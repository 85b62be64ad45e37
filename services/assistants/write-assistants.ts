import { Value } from 'typebox/value'
import {
  configMaxMegabytes,
  publicTokenKey,
  type ToolSetting,
  readAssistantConfig,
  toolsKey,
} from '../../domain/assistant-config.ts'
import { AssistantToolConfig } from '../../domain/assistant-tool.ts'
import { AppError, invalidInput } from '../../domain/errors.ts'
import { checkFreeForm } from '../../domain/foreign-json.ts'
import { objectFromJsonText, toJsonText } from '../../domain/json.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import { type Caller, type Owner, owns } from '../owner.ts'
import { lockProject } from '../parents.ts'
import { budgetStore } from '../stores/budgets.ts'
import type { RunInTransaction } from '../transactions.ts'
import { type AssistantConfigs, configUpdate } from './configs.ts'
import { type AssistantReads, foreign } from './read-assistants.ts'
import { ownAssistantStore } from './store.ts'

export interface AssistantPayload {
  name: string
  config?: Record<string, unknown>
  public?: boolean
}

interface AssistantWritesDeps {
  collections: Pick<Collections, 'users' | 'projects' | 'assistants' | 'budgets'>
  transaction: RunInTransaction
  configs: AssistantConfigs
  readIn: AssistantReads['readIn']
}

export function createAssistantWrites({ collections, transaction, configs, readIn }: AssistantWritesDeps) {
  const assistants = ownAssistantStore(collections)
  const checkReplacement = createReplacementCheck({ collections, configs })
  const fieldsOf = (assistantId: string, payload: AssistantPayload) => storedFields(configs, assistantId, payload)

  return {
    /**
     * Creates an assistant under an id that the caller knows to be new; throws the database's duplicate key error
     * if it exists.
     */
    async createUnder(caller: Caller, assistantId: string, payload: AssistantPayload): Promise<AssistantRecord> {
      await requireAskable(collections, { ...caller, assistantId, configText: configTextOf(payload) })
      return insert(caller, assistantId, payload)
    },

    /** As `createUnder`, for an archive: the assistants that it may ask can come after it. */
    restoreUnder: insert,

    /**
     * Replaces one of the owner's assistants, or creates it in the token's project under the id that the caller chose.
     */
    async put(
      caller: Caller,
      assistantId: string,
      payload: AssistantPayload,
      owner: Owner = caller.userId,
    ): Promise<AssistantRecord> {
      const fields = fieldsOf(assistantId, payload)
      await checkReplacement(caller, owner, assistantId, payload)
      const replaced = await refusingTakenTokens(() => replace(owner, assistantId, fields))
      if (replaced) return replaced
      return insert(caller, assistantId, payload).catch(async (error: unknown) => {
        if (!isDuplicateKey(error)) throw error
        // The id is taken: by another user, by a deletion under way, or by the same caller a moment ago.
        const again = await refusingTakenTokens(() => replace(owner, assistantId, fields))
        if (again) return again
        throw await whyNot(owner, assistantId)
      })
    },

    /**
     * Changes an assistant of the token's project. `changed` gets it as it is, and is asked again if somebody else wrote
     * it in the meantime.
     */
    async change(
      caller: Caller,
      assistantId: string,
      changed: (current: Required<Omit<AssistantPayload, 'public'>>) => Required<Omit<AssistantPayload, 'public'>>,
    ): Promise<AssistantRecord> {
      for (;;) {
        const assistant = await readIn(caller, assistantId)
        const current = { name: assistant.name, config: objectFromJsonText(configs.textOf(assistant)) }
        const payload = { ...changed(current), public: assistant.public }
        const fields = fieldsOf(assistantId, payload)
        const before = configs.textOf(assistant)
        await requireAskable(collections, { ...caller, assistantId, configText: configTextOf(payload), before })
        const written = await assistants.changeConfig(assistant, configUpdate({ ...fields, updated_at: new Date() }))
        if (written !== null) return written
      }
    },
  }

  async function insert(caller: Caller, assistantId: string, payload: AssistantPayload): Promise<AssistantRecord> {
    const now = new Date()
    const record: AssistantRecord = {
      _id: assistantId,
      user_id: caller.userId,
      project_id: caller.projectId,
      ...(caller.makerId === undefined ? {} : { created_by: caller.makerId }),
      ...fieldsOf(assistantId, payload),
      has_files: false,
      created_at: now,
      updated_at: now,
    }
    await refusingTakenTokens(() =>
      transaction(async (session) => {
        await lockProject(collections, caller, session)
        const budgets = await budgetStore(collections).idsOfProject(caller.projectId, session)
        await assistants.add(budgets.length > 0 ? { ...record, budgets } : record, session)
      }),
    )
    return record
  }

  async function replace(owner: Owner, assistantId: string, fields: Fields) {
    return assistants.replaceOwned(owner, assistantId, configUpdate({ ...fields, updated_at: new Date() }))
  }

  async function whyNot(owner: Owner, assistantId: string): Promise<AppError> {
    const record = await assistants.findTakenOfAny(assistantId)
    if (record && !owns(owner, record)) return foreign()
    return new AppError('conflict', 'This assistant is being deleted.')
  }
}

/** Checks which assistants a new configuration lets it ask; the assistant may exist in another project. */
function createReplacementCheck({ collections, configs }: Pick<AssistantWritesDeps, 'collections' | 'configs'>) {
  return async (
    { userId, projectId }: Caller,
    owner: Owner,
    assistantId: string,
    payload: AssistantPayload,
  ): Promise<void> => {
    const current = await ownAssistantStore(collections).findOwned(owner, assistantId)
    await requireAskable(collections, {
      userId,
      projectId: current?.project_id ?? projectId,
      assistantId,
      configText: configTextOf(payload),
      before: current === null ? undefined : configs.textOf(current),
    })
  }
}

const configTextOf = ({ config = {} }: AssistantPayload) => toJsonText(config)

async function refusingTakenTokens<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (isDuplicateKey(error, 'public_token_hashes')) {
      // Do not say why: a caller who guesses would learn that the token belongs to another assistant.
      throw invalidInput(['body', 'config', publicTokenKey], 'this token cannot be used')
    }
    throw error
  }
}

/** The stored form of a payload. */
function storedFields(
  configs: AssistantConfigs,
  assistantId: string,
  { name, config = {}, public: isPublic = false }: AssistantPayload,
) {
  const fields = configs.fieldsOf(
    assistantId,
    checkFreeForm(['body', 'config'], config, { maxMegabytes: configMaxMegabytes }),
  )
  if (fields.access_mode === 'public_token' && fields.public_token_hashes === undefined) {
    throw invalidInput(['body', 'config', publicTokenKey], 'the access mode public_token needs a token', 'missing')
  }
  return { name, public: isPublic, ...fields }
}

type Fields = ReturnType<typeof storedFields>

interface Written {
  userId: string
  projectId: string
  assistantId: string
  configText: string
  /** The configuration before, if there is one. Ids that it has stay, because an assistant may be deleted since. */
  before?: string | undefined
}

/** Refuses, by its member, an id in a tool `assistant` that is not another assistant of the same project. */
async function requireAskable(
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
      const refuse = (message: string) => invalidInput([...locOf(place), 'assistant_ids', index], message)
      if (id === assistantId) throw refuse('an assistant cannot ask itself')
      if (!known.has(id) && !found.has(id)) throw refuse('this project has no such assistant')
    }
  }
}

const locOf = (index: number) => ['body', 'config', toolsKey, index, 'config']

function mismatch(index: number, config: object): AppError {
  const [error] = Value.Errors(AssistantToolConfig, config)
  const path = (error?.instancePath ?? '').split('/').slice(1)
  return invalidInput([...locOf(index), ...path], error?.message ?? 'is not valid')
}

function askableIdsOf(tools: ToolSetting[]): string[] {
  return tools.flatMap(({ type, config = {} }) =>
    type === 'assistant' && Value.Check(AssistantToolConfig, config) ? config.assistant_ids : [],
  )
}
