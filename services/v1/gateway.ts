import type { GatewayRecord } from '../../domain/records/assistant.ts'
import type { AssistantConfigs } from '../assistants/configs.ts'
import type { Caller } from '../assistants/write-assistants.ts'
import type { Collections } from '../collections.ts'
import { isNew } from '../duplicate-key.ts'
import { holderOf } from '../owner.ts'
import { lockProject } from '../parents.ts'
import { budgetStore } from '../stores/budgets.ts'
import type { RunInTransaction } from '../transactions.ts'
import { gatewayStore } from './store.ts'

interface GatewayDeps {
  collections: Pick<Collections, 'users' | 'assistants' | 'budgets' | 'projects'>
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
  const { find, add } = gatewayStore(collections)

  return async (caller: Caller): Promise<GatewayRecord> => {
    const id = idOf(caller.projectId)
    const known = await find(id)
    if (known !== null) return known
    const now = new Date()
    const record: GatewayRecord = {
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
    const made = transaction(async (session) => {
      await lockProject(collections, caller, session)
      const budgets = await budgetStore(collections).idsOfProject(caller.projectId, session)
      await add(budgets.length > 0 ? { ...record, budgets } : record, session)
    })
    await isNew(made)
    return (await find(id)) ?? record
  }
}
