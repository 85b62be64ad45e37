import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { AssistantConfigs } from '../assistants/configs.ts'
import { budgetsOfProject } from '../assistants/project-of-assistant.ts'
import type { Caller } from '../assistants/write-assistants.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import { holderOf } from '../owner.ts'
import { holdProject } from '../parents.ts'
import type { RunInTransaction } from '../transactions.ts'

interface GatewayDeps {
  collections: Pick<Collections, 'assistants' | 'budgets' | 'projects'>
  transaction: RunInTransaction
  configs: Pick<AssistantConfigs, 'fieldsOf'>
}

/** No caller can choose an id with a colon. */
const idOf = (projectId: string) => `gateway:${projectId}`

/**
 * The record under which a project's runs are executed that name a model in place of an assistant: it has no
 * instructions and no tools, and the platform's account pays. It is made with the first of these runs, and goes with
 * the project.
 */
export function createGateway({ collections, transaction, configs }: GatewayDeps) {
  const { assistants } = collections
  const find = (id: string) => assistants.findOne({ _id: id, kind: 'gateway' }).lean<AssistantRecord>()

  return async (caller: Caller): Promise<AssistantRecord> => {
    const id = idOf(caller.projectId)
    const known = await find(id)
    if (known !== null) return known
    const now = new Date()
    const record: AssistantRecord = {
      _id: id,
      user_id: holderOf(caller).userId,
      project_id: caller.projectId,
      kind: 'gateway',
      name: '',
      public: false,
      ...configs.fieldsOf(id, '{}'),
      has_files: false,
      created_at: now,
      updated_at: now,
    }
    try {
      await transaction(async (session) => {
        await holdProject(collections, caller, session)
        const budgets = await budgetsOfProject(collections, caller.projectId, session)
        await assistants.create([budgets.length > 0 ? { ...record, budgets } : record], { session })
      })
    } catch (error) {
      if (!isDuplicateKey(error)) throw error
    }
    return (await find(id)) ?? record
  }
}
