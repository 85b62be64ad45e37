import { AppError } from '../../domain/errors.ts'
import type { Assistants } from '../assistants/index.ts'
import type { Caller } from '../assistants/write-assistants.ts'
import type { ListedModels } from '../models/list-models.ts'
import { unknownModel } from './answering-models.ts'

/** What a client of `/v1` can name as a model. */
export interface NamedModel {
  id: string
  /** When the assistant was created; undefined for a model of the settings. */
  createdAt: Date | undefined
  ownedBy: string
}

interface V1ModelsDeps {
  assistants: Pick<Assistants, 'newestIds' | 'readIn'>
  listModels: () => ListedModels
  /** Undefined if none is configured. */
  embeddingModel: string | undefined
}

/** Assistants in one list: more are found by their ids. */
const listedAssistants = 1000
const ownOwner = 'assistant-platform'

/** The assistants of a project, and the models of the settings. An assistant hides a model with the name of its id. */
export function createV1Models({ assistants, listModels, embeddingModel }: V1ModelsDeps) {
  function ofSettings(): NamedModel[] {
    const answering = listModels().models.map(({ id, providers }) => ({ id, ownedBy: providers[0] ?? ownOwner }))
    const embedding = embeddingModel === undefined ? [] : [{ id: embeddingModel, ownedBy: ownOwner }]
    const unique = new Map([...embedding, ...answering].map((model) => [model.id, { ...model, createdAt: undefined }]))
    return [...unique.values()]
  }

  return {
    /** The newest assistants first. */
    async list(caller: Caller): Promise<NamedModel[]> {
      const own = await assistants.newestIds(caller, listedAssistants)
      const ids = new Set(own.map(({ _id }) => _id))
      return [
        ...own.map(({ _id, created_at }) => ({ id: _id, createdAt: created_at, ownedBy: ownOwner })),
        ...ofSettings().filter(({ id }) => !ids.has(id)),
      ]
    },

    async find(caller: Caller, id: string): Promise<NamedModel> {
      const assistant = await assistants.readIn(caller, id).catch((error: unknown) => {
        if (error instanceof AppError && error.code === 'not_found') return undefined
        throw error
      })
      if (assistant !== undefined) return { id, createdAt: assistant.created_at, ownedBy: ownOwner }
      const model = ofSettings().find((one) => one.id === id)
      if (model === undefined) throw unknownModel(id, ['path', 'model'])
      return model
    },
  }
}
