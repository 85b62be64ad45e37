import type { ClientSession } from 'mongoose'
import { randomBytes } from 'node:crypto'
import { configMaxMegabytes, publicTokenKey } from '../../domain/assistant-config.ts'
import { AppError, invalidInput } from '../../domain/errors.ts'
import { checkFreeForm } from '../../domain/free-form.ts'
import { objectFromJsonText, toJsonText } from '../../domain/json-text.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import { budgetId } from '../../domain/records/budget.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import { type Page, type PageRange, readPage } from '../page.ts'
import { holdProject } from '../parents.ts'
import type { RunInTransaction } from '../transactions.ts'
import { type AssistantConfigs, configUnchanged, configUpdate } from './configs.ts'

export type Assistants = ReturnType<typeof createAssistants>

export interface AssistantPayload {
  name: string
  config?: Record<string, unknown>
  public?: boolean
}

/** The caller and the project. */
export interface Caller {
  userId: string
  projectId: string
}

interface AssistantsDeps {
  collections: Pick<Collections, 'projects' | 'assistants' | 'budgets'>
  transaction: RunInTransaction
  configs: AssistantConfigs
}

const present = { deleting: { $ne: true } } as const
/** Batch size of a database cursor over records of up to a megabyte each. */
const configsAtOnce = 8
/** Size of an assistant without its configuration; a name has at most 1,000 characters. */
const restBytes = 5000

/** An assistant as other users see it in lists. */
export type ListedAssistant = Pick<AssistantRecord, keyof typeof listed | '_id'>
const listed = {
  project_id: 1,
  name: 1,
  open_config_json: 1,
  // Only in records that an earlier version wrote.
  config_json: 1,
  public: 1,
  created_at: 1,
  updated_at: 1,
} as const

export function createAssistants({ collections, transaction, configs }: AssistantsDeps) {
  const { assistants } = collections

  return {
    /** The assistants of the token's project, oldest first. */
    list: ({ projectId }: Caller, range: PageRange): Promise<Page<AssistantRecord>> =>
      readPage(
        assistants
          .find({ project_id: projectId, ...present })
          .sort({ created_at: 1, _id: 1 })
          .lean<AssistantRecord>()
          .batchSize(configsAtOnce),
        range,
        (assistant) => configs.bytesOf(assistant) + restBytes,
      ),

    /** The public assistants, newest first. Only the public members of their configurations are read. */
    listPublic: (range: PageRange): Promise<Page<ListedAssistant>> =>
      readPage(
        assistants
          .find({ public: true, suspended: { $ne: true }, ...present }, listed)
          .sort({ created_at: -1, _id: -1 })
          .lean<ListedAssistant>(),
        range,
        ({ open_config_json: open = '', config_json: clear = '' }) => Buffer.byteLength(open + clear) + restBytes,
      ),

    /** For reading: the caller's own in any project, and public ones for everybody, also without an account. */
    async read(assistantId: string, userId: string | undefined): Promise<AssistantRecord> {
      const assistant = await find(assistantId)
      if ((assistant.public && !assistant.suspended) || assistant.user_id === userId) return assistant
      throw userId === undefined ? new AppError('unauthenticated', 'An access token is required.') : foreign()
    },

    readOwn: requireOwn,

    shownConfig: configs.shownTo,
    listedConfig: configs.listed,

    /**
     * Creates an assistant under an id that the caller knows to be new; throws the database's duplicate key error
     * if it exists.
     */
    createUnder: insert,

    /** Replaces the assistant, or creates it in the token's project under the id that the caller chose. */
    async put(caller: Caller, assistantId: string, payload: AssistantPayload): Promise<AssistantRecord> {
      const fields = fieldsOf(assistantId, payload)
      const replaced = await refusingTakenTokens(() => replace(caller.userId, assistantId, fields))
      if (replaced) return replaced
      return insert(caller, assistantId, payload).catch(async (error: unknown) => {
        if (!isDuplicateKey(error)) throw error
        // The id is taken: by another user, by a deletion under way, or by the same caller a moment ago.
        const again = await refusingTakenTokens(() => replace(caller.userId, assistantId, fields))
        if (again) return again
        throw await whyNot(caller.userId, assistantId)
      })
    },

    /** Generates a strong public token that replaces the old one at once. The access mode does not change. */
    async renewPublicToken(userId: string, assistantId: string): Promise<string> {
      for (;;) {
        const assistant = await requireOwn(userId, assistantId)
        const token = `pt_${randomBytes(32).toString('base64url')}`
        const config = { ...objectFromJsonText(configs.textOf(assistant)), [publicTokenKey]: token }
        const { $set, $unset } = configUpdate(configs.fieldsOf(assistantId, toJsonText(config)))
        const { matchedCount } = await assistants.updateOne(
          { ...configUnchanged(assistant), user_id: userId, ...present },
          { $set: { ...$set, updated_at: new Date() }, $unset },
        )
        // Otherwise somebody else wrote the config in the meantime: read it again.
        if (matchedCount > 0) return token
      }
    },

    /** Moves the caller's assistant into another of the caller's projects. */
    async move(userId: string, assistantId: string, projectId: string): Promise<AssistantRecord> {
      const { budgets: earlier = [] } = await requireOwn(userId, assistantId)
      return transaction(async (session) => {
        await requireProject({ userId, projectId }, session)
        const moved = await assistants
          .findOneAndUpdate(
            { _id: assistantId, user_id: userId, ...present },
            {
              $set: {
                project_id: projectId,
                updated_at: new Date(),
                budgets: [
                  ...earlier.filter((id) => !id.startsWith('project/')),
                  ...(await projectBudgets(projectId, session)),
                ],
              },
            },
            { session, returnDocument: 'after' },
          )
          .lean<AssistantRecord>()
        if (moved === null) throw missing()
        return moved
      })
    },
  }

  async function insert(caller: Caller, assistantId: string, payload: AssistantPayload): Promise<AssistantRecord> {
    const now = new Date()
    const record: AssistantRecord = {
      _id: assistantId,
      user_id: caller.userId,
      project_id: caller.projectId,
      ...fieldsOf(assistantId, payload),
      has_files: false,
      created_at: now,
      updated_at: now,
    }
    await refusingTakenTokens(() =>
      transaction(async (session) => {
        await holdProject(collections, caller, session)
        const budgets = await projectBudgets(caller.projectId, session)
        await assistants.create([budgets.length > 0 ? { ...record, budgets } : record], { session })
      }),
    )
    return record
  }

  async function replace(userId: string, assistantId: string, fields: Fields) {
    const { $set, $unset } = configUpdate(fields)
    return assistants
      .findOneAndUpdate(
        { _id: assistantId, user_id: userId, ...present },
        { $set: { ...$set, updated_at: new Date() }, $unset },
        { returnDocument: 'after' },
      )
      .lean<AssistantRecord>()
  }

  /** The stored form of a payload. */
  function fieldsOf(assistantId: string, { name, config = {}, public: isPublic = false }: AssistantPayload) {
    const fields = configs.fieldsOf(
      assistantId,
      checkFreeForm(['body', 'config'], config, { maxMegabytes: configMaxMegabytes }),
    )
    if (fields.access_mode === 'public_token' && fields.public_token_hashes === undefined) {
      throw invalidInput(['body', 'config', publicTokenKey], 'the access mode public_token needs a token', 'missing')
    }
    return { name, public: isPublic, ...fields }
  }

  type Fields = ReturnType<typeof fieldsOf>

  /** Runs of an assistant count for the budget of its project. The project is held, so that a budget that is being set is seen here or sees the assistant. */
  async function projectBudgets(projectId: string, session: ClientSession): Promise<string[]> {
    const found = await collections.budgets
      .findOne({ _id: budgetId('project', projectId) }, { _id: 1 }, { session })
      .lean()
    return found === null ? [] : [found._id]
  }

  async function requireProject(caller: Caller, session: ClientSession): Promise<void> {
    const project = await collections.projects
      .findOne({ _id: caller.projectId }, { user_id: 1, deleting: 1 }, { session })
      .lean()
    if (project === null) throw new AppError('not_found', 'There is no such project.')
    await holdProject(collections, caller, session)
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
    if (isDuplicateKey(error, 'public_token_hashes')) {
      // Do not say why: a caller who guesses would learn that the token belongs to another assistant.
      throw invalidInput(['body', 'config', publicTokenKey], 'this token cannot be used')
    }
    throw error
  }
}
