import { AppError, ifFound } from '../../domain/errors.ts'
import { isGeneratedId } from '../../domain/ids.ts'
import type { Assistants } from '../assistants/index.ts'
import { type AllowancesNow, mayUseModel } from '../groups/allowances.ts'
import type { ListedModels } from '../models/list-models.ts'
import type { ServedList } from '../models/served-list.ts'
import type { Caller } from '../owner.ts'
import { unknownModel } from './answering-models.ts'

/** What a client of `/v1` can name as a model. */
export interface NamedModel {
  id: string
  /** When the assistant was created; undefined for a model. */
  createdAt: Date | undefined
  ownedBy: string
}

interface V1ModelsDeps {
  assistants: Pick<Assistants, 'newestIds' | 'readIn'>
  listModels: () => ListedModels
  servedList: ServedList
  allowances: Pick<AllowancesNow, 'of'>
  /** Those that embed, write down speech, or read aloud. */
  otherModels: string[]
}

/** Assistants in one list: more are found by their ids. */
const listedAssistants = 1000
const ownOwner = 'assistant-platform'

/**
 * The assistants of a project, the models of the settings, and those that the server of `OPENAI_BASE_URL` lists. An
 * assistant hides a model with the name of its id.
 */
export function createV1Models({ assistants, listModels, servedList, otherModels, allowances }: V1ModelsDeps) {
  function ofSettings(): NamedModel[] {
    const answering = listModels().models.map(({ id, providers }) => ({ id, ownedBy: providers[0] ?? ownOwner }))
    const others = otherModels.map((id) => ({ id, ownedBy: ownOwner }))
    return [...others, ...answering].map((model) => ({ ...model, createdAt: undefined }))
  }

  async function ofServer(): Promise<NamedModel[] | undefined> {
    return (await servedList())?.map(({ id }) => ({ id, createdAt: undefined, ownedBy: ownOwner }))
  }

  return {
    /** The newest assistants first. */
    async list(caller: Caller): Promise<NamedModel[]> {
      const own = await assistants.newestIds(caller, listedAssistants)
      const allowed = await allowances.of(caller.userId)
      const models = [...ofSettings(), ...((await ofServer()) ?? [])]
      const all: NamedModel[] = [
        ...own.map(({ _id, created_at }) => ({ id: _id, createdAt: created_at, ownedBy: ownOwner })),
        ...models.filter(({ id }) => otherModels.includes(id) || mayUseModel(allowed, id)),
      ]
      const seen = new Set<string>()
      return all.filter(({ id }) => !seen.has(id) && seen.add(id))
    },

    async find(caller: Caller, id: string): Promise<NamedModel> {
      const assistant = await ifFound(assistants.readIn(caller, id))
      if (assistant !== undefined) return { id, createdAt: assistant.created_at, ownedBy: ownOwner }
      if (!otherModels.includes(id) && !mayUseModel(await allowances.of(caller.userId), id))
        throw unknownModel(id, ['path', 'model'])
      const known = ofSettings().find((one) => one.id === id)
      if (known !== undefined) return known
      if (isGeneratedId(id)) throw unknownModel(id, ['path', 'model'])
      const served = await ofServer()
      // Whether the server has the model is not known then.
      if (served === undefined) throw new AppError('unavailable', 'The model server gives no list of its models.')
      const model = served.find((one) => one.id === id)
      if (model === undefined) throw unknownModel(id, ['path', 'model'])
      return model
    },
  }
}
