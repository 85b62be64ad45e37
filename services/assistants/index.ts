import type { ClientSession } from 'mongoose'
import { publicTokenKey, readAssistantConfig } from '../../domain/assistant-config.ts'
import { AppError, invalidInput } from '../../domain/errors.ts'
import { checkFreeForm } from '../../domain/free-form.ts'
import { newId } from '../../domain/ids.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import { holdProject } from '../parents.ts'
import type { RunInTransaction } from '../transactions.ts'

export type Assistants = ReturnType<typeof createAssistants>

export interface AssistantPayload {
  name: string
  config?: Record<string, unknown>
  public?: boolean
}

/** Who acts, and in which project. */
export interface Place {
  userId: string
  projectId: string
}

interface AssistantsDeps {
  collections: Pick<Collections, 'projects' | 'assistants'>
  transaction: RunInTransaction
}

const present = { deleting: { $ne: true } } as const

export function createAssistants({ collections, transaction }: AssistantsDeps) {
  const { assistants } = collections

  return {
    list: ({ projectId }: Place) =>
      assistants
        .find({ project_id: projectId, ...present })
        .sort({ created_at: 1, _id: 1 })
        .lean<AssistantRecord[]>(),

    listPublic: () =>
      assistants
        .find({ public: true, ...present })
        .sort({ created_at: 1, _id: 1 })
        .lean<AssistantRecord[]>(),

    /** For reading: the owner's in any of the owner's projects, and public ones for everybody, user or not. */
    async read(assistantId: string, userId: string | undefined): Promise<AssistantRecord> {
      const assistant = await find(assistantId)
      if (assistant.public || assistant.user_id === userId) return assistant
      throw userId === undefined ? new AppError('unauthenticated', 'An access token is required.') : foreign()
    },

    readOwn: requireOwn,

    create: (place: Place, payload: AssistantPayload) => insert(place, newId(), payload),

    /** Under an id that the caller knows to be new; the database's duplicate key error when it is not. */
    createUnder: insert,

    /** Replaces the assistant, or makes it in the token's project under the id that the caller chose. */
    async put(place: Place, assistantId: string, payload: AssistantPayload): Promise<AssistantRecord> {
      const fields = fieldsOf(payload)
      const replaced = await refusingTakenTokens(() => replace(place.userId, assistantId, fields))
      if (replaced) return replaced
      return insert(place, assistantId, payload).catch(async (error: unknown) => {
        if (!isDuplicateKey(error)) throw error
        // Somebody has the id: another user, a deletion under way, or the same caller a moment ago.
        const again = await refusingTakenTokens(() => replace(place.userId, assistantId, fields))
        if (again) return again
        throw await whyNot(place.userId, assistantId)
      })
    },

    /** Moves the caller's assistant into another of the caller's projects. */
    async move(userId: string, assistantId: string, projectId: string): Promise<AssistantRecord> {
      await requireOwn(userId, assistantId)
      return transaction(async (session) => {
        await requireProject({ userId, projectId }, session)
        const moved = await assistants
          .findOneAndUpdate(
            { _id: assistantId, user_id: userId, ...present },
            { $set: { project_id: projectId, updated_at: new Date() } },
            { session, returnDocument: 'after' },
          )
          .lean<AssistantRecord>()
        if (moved === null) throw missing()
        return moved
      })
    },
  }

  async function insert(place: Place, assistantId: string, payload: AssistantPayload): Promise<AssistantRecord> {
    const now = new Date()
    const record: AssistantRecord = {
      _id: assistantId,
      user_id: place.userId,
      project_id: place.projectId,
      ...fieldsOf(payload),
      created_at: now,
      updated_at: now,
    }
    await refusingTakenTokens(() =>
      transaction(async (session) => {
        await holdProject(collections, place, session)
        await assistants.create([record], { session })
      }),
    )
    return record
  }

  async function replace(userId: string, assistantId: string, { public_token: token, ...fields }: Fields) {
    const $set = { ...fields, ...(token === undefined ? {} : { public_token: token }), updated_at: new Date() }
    return assistants
      .findOneAndUpdate(
        { _id: assistantId, user_id: userId, ...present },
        { $set, ...(token === undefined ? { $unset: { public_token: 1 } } : {}) },
        { returnDocument: 'after' },
      )
      .lean<AssistantRecord>()
  }

  async function requireProject(place: Place, session: ClientSession): Promise<void> {
    const project = await collections.projects
      .findOne({ _id: place.projectId }, { user_id: 1, deleting: 1 }, { session })
      .lean()
    if (project === null) throw new AppError('not_found', 'There is no such project.')
    await holdProject(collections, place, session)
  }

  async function find(assistantId: string): Promise<AssistantRecord> {
    const assistant = await assistants.findOne({ _id: assistantId, ...present }).lean<AssistantRecord>()
    if (assistant === null) throw missing()
    return assistant
  }

  /** Throws `not_found` for a missing assistant and `forbidden` for another user's, public or not. */
  async function requireOwn(userId: string, assistantId: string): Promise<AssistantRecord> {
    const assistant = await find(assistantId)
    if (assistant.user_id !== userId) throw foreign()
    return assistant
  }

  async function whyNot(userId: string, assistantId: string): Promise<AppError> {
    const record = await assistants.findOne({ _id: assistantId }).lean<AssistantRecord>()
    if (record && record.user_id !== userId) return foreign()
    return new AppError('conflict', 'This assistant is being deleted.')
  }
}

type Fields = ReturnType<typeof fieldsOf>

/** What is stored of a payload: the config as text, and copies of what look-ups need. */
function fieldsOf({ name, config = {}, public: isPublic = false }: AssistantPayload) {
  const configJson = checkFreeForm(['body', 'config'], config)
  const { accessMode, publicToken, allowedOrigins } = readAssistantConfig(configJson)
  if (accessMode === 'public_token' && publicToken === undefined) {
    throw invalidInput(['body', 'config', publicTokenKey], 'the access mode public_token needs a token', 'missing')
  }
  return {
    name,
    config_json: configJson,
    public: isPublic,
    access_mode: accessMode,
    allowed_origins: allowedOrigins,
    ...(publicToken === undefined ? {} : { public_token: publicToken }),
  }
}

function missing(): AppError {
  return new AppError('not_found', 'There is no such assistant.')
}

function foreign(): AppError {
  return new AppError('forbidden', 'This assistant belongs to another user.')
}

async function refusingTakenTokens<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (isDuplicateKey(error, 'public_token')) {
      throw invalidInput(['body', 'config', publicTokenKey], 'another assistant holds this token', 'taken')
    }
    throw error
  }
}
