import { AppError, invalidInput, ifFound } from '../../domain/errors.ts'
import { isGeneratedId } from '../../domain/ids.ts'
import type { AssistantRecord, GatewayRecord } from '../../domain/records/assistant.ts'
import type { AssistantConfigs } from '../assistants/configs.ts'
import type { Assistants } from '../assistants/index.ts'
import type { Collections } from '../collections.ts'
import { isNew } from '../duplicate-key.ts'
import type { ListedModels } from '../models/list-models.ts'
import type { ModelsNow } from '../models/live-models.ts'
import { type Caller, holderOf } from '../owner.ts'
import { lockProject } from '../parents.ts'
import { budgetStore } from '../stores/budgets.ts'
import type { RunInTransaction } from '../transactions.ts'
import { gatewayStore } from './store.ts'

/** What answers a request: an assistant, or, under the project's gateway, a model of the settings. */
export interface AnsweringModel {
  assistant: AssistantRecord
  /** Undefined: that of the assistant. */
  model: string | undefined
}

interface AnsweringModelsDeps {
  assistants: Pick<Assistants, 'readIn' | 'named'>
  gateway: (caller: Caller) => Promise<AssistantRecord>
  listModels: () => ListedModels
  models: ModelsNow
}

/**
 * Finds what the `model` of a request names: an assistant of the project by its id, then by its name, then a model of
 * the settings. Any other name that is not an id of ours goes to the server of `OPENAI_BASE_URL`, which knows its
 * models best. Throws `not_found` if there is no such server, and `invalid_input` for a name that several assistants
 * have.
 */
export function createAnsweringModels({ assistants, gateway, listModels, models }: AnsweringModelsDeps) {
  return async (caller: Caller, name: string): Promise<AnsweringModel> => {
    const byId = await ifFound(assistants.readIn(caller, name))
    if (byId !== undefined) return { assistant: byId, model: undefined }
    const [byName, second] = await assistants.named(caller, name)
    if (second !== undefined)
      throw invalidInput(['body', 'model'], `several assistants are called ${name}: name one by its id`, 'ambiguous')
    if (byName !== undefined) return { assistant: byName, model: undefined }
    const isListed = listModels().models.some(({ id }) => id === name)
    // The id of an assistant that is gone, or of somebody else, is no business of a model server.
    const isForServer = models.current().account !== undefined && !isGeneratedId(name)
    if (isListed || isForServer) return { assistant: await gateway(caller), model: name }
    throw unknownModel(name, ['body', 'model'])
  }
}

/** Clients look for this code before they try another model. */
export function unknownModel(name: string, loc: string[]): AppError {
  const fields = [{ loc, msg: `there is no model ${name}`, type: 'model_not_found' }]
  return new AppError('not_found', `There is no model ${name}.`, { fields })
}

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
