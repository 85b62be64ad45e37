import { isGeneratedId } from '../../domain/ids.ts'
import { AppError, invalidInput } from '../../domain/errors.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { Assistants } from '../assistants/index.ts'
import type { Caller } from '../assistants/write-assistants.ts'
import type { ListedModels } from '../models/list-models.ts'
import type { ModelsNow } from '../models/live-models.ts'

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
 * the settings. Any other name that is not an id of ours goes to the server of `OPENAI_BASE_URL`, which knows its models best. Throws `not_found`
 * if there is no such server, and `invalid_input` for a name that several assistants have.
 */
export function createAnsweringModels({ assistants, gateway, listModels, models }: AnsweringModelsDeps) {
  return async (caller: Caller, name: string): Promise<AnsweringModel> => {
    const byId = await assistants.readIn(caller, name).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'not_found') return undefined
      throw error
    })
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
