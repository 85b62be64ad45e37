import { AppError } from '../../domain/errors.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { AssistantConfigs } from '../assistants/configs.ts'
import type { Assistants } from '../assistants/index.ts'
import { budgetsOfProject } from '../assistants/project-of-assistant.ts'
import { present } from '../assistants/read-assistants.ts'
import type { Caller } from '../assistants/write-assistants.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import type { ListedModel } from '../models.ts'
import { holdProject } from '../parents.ts'
import type { RunInTransaction } from '../transactions.ts'

/** What answers a request that names a `model`. */
export interface ResolvedModel {
  assistant: AssistantRecord
  /** The model of the settings that was named. The assistant is then the project's gateway, which adds nothing. */
  model?: string
}

export type ResolveModel = ReturnType<typeof createResolveModel>

interface ResolveModelDeps {
  collections: Pick<Collections, 'assistants' | 'budgets' | 'projects'>
  transaction: RunInTransaction
  configs: Pick<AssistantConfigs, 'fieldsOf'>
  assistants: Pick<Assistants, 'readIn'>
  listModels: () => ListedModel[]
}

/** Callers cannot choose an id with a colon, so that nobody else can take this one. */
const gatewayId = (projectId: string) => `gateway:${projectId}`

/**
 * Finds what answers: an assistant of the project by its id, a model of the settings, or an assistant by its name, the
 * newest of that name. Throws `not_found` for any other name.
 */
export function createResolveModel(deps: ResolveModelDeps) {
  const { assistants: records } = deps.collections

  return async (caller: Caller, name: string): Promise<ResolvedModel> => {
    const byId = await deps.assistants.readIn(caller, name).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'not_found') return undefined
      throw error
    })
    if (byId !== undefined) return { assistant: byId }
    if (deps.listModels().some(({ id }) => id === name)) return { assistant: await gatewayOf(caller), model: name }
    const byName = await records
      .findOne({ project_id: caller.projectId, name, ...present })
      .sort({ created_at: -1, _id: -1 })
      .lean<AssistantRecord>()
    if (byName === null) throw new AppError('not_found', `There is no assistant or model ${name}.`)
    return { assistant: byName }
  }

  /** Made with the first request that needs it. */
  async function gatewayOf(caller: Caller): Promise<AssistantRecord> {
    return (await findGateway(caller)) ?? createGateway(caller)
  }

  function findGateway({ userId, projectId }: Caller): Promise<AssistantRecord | null> {
    const own = { _id: gatewayId(projectId), user_id: userId, kind: 'gateway' as const, deleting: { $ne: true } }
    return records.findOne(own).lean<AssistantRecord>().exec()
  }

  async function createGateway(caller: Caller): Promise<AssistantRecord> {
    const now = new Date()
    const id = gatewayId(caller.projectId)
    const record: AssistantRecord = {
      _id: id,
      kind: 'gateway',
      user_id: caller.userId,
      project_id: caller.projectId,
      name: 'Gateway',
      public: false,
      ...deps.configs.fieldsOf(id, '{}'),
      has_files: false,
      created_at: now,
      updated_at: now,
    }
    try {
      await deps.transaction(async (session) => {
        await holdProject(deps.collections, caller, session)
        const budgets = await budgetsOfProject(deps.collections, caller.projectId, session)
        await records.create([budgets.length > 0 ? { ...record, budgets } : record], { session })
      })
    } catch (error) {
      if (!isDuplicateKey(error)) throw error
      const first = await findGateway(caller)
      if (first === null) throw new AppError('not_found', 'The project is being deleted.')
      return first
    }
    return record
  }
}
