import { AppError } from '../../domain/errors.ts'
import { type AssistantRecord, isAssistant } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import { type Owner, owns } from '../owner.ts'
import { type PageQuery, storedPage } from '../cursor-page.ts'
import { type Page, type PageRange, readPage } from '../page.ts'
import type { AssistantConfigs } from './configs.ts'

export type AssistantReads = ReturnType<typeof createAssistantReads>

/** Selects assistants that are not being deleted. */
export const present = { deleting: { $ne: true }, ...isAssistant } as const
/** Batch size of a database cursor over records of up to a megabyte each. */
const configsAtOnce = 8
/** Size of an assistant without its configuration; a name has at most 1,000 characters. */
const restBytes = 5000

interface InProject {
  projectId: string
}

/** An assistant as other users see it in lists. */
export type ListedAssistant = Pick<AssistantRecord, keyof typeof listed | '_id'>
const listed = {
  project_id: 1,
  name: 1,
  open_config_json: 1,
  public: 1,
  created_at: 1,
  updated_at: 1,
} as const

export function createAssistantReads(deps: {
  collections: Pick<Collections, 'assistants'>
  configs: AssistantConfigs
}) {
  const { collections, configs } = deps
  const { assistants } = collections

  return {
    /** The assistants of the token's project, oldest first. */
    list: ({ projectId }: InProject, range: PageRange): Promise<Page<AssistantRecord>> =>
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
        ({ open_config_json: open = '' }) => Buffer.byteLength(open) + restBytes,
      ),

    /** For reading: the caller's own in any project, and public ones for everybody, also without an account. */
    async read(assistantId: string, owner: Owner | undefined): Promise<AssistantRecord> {
      const assistant = await find(assistantId)
      const isOwn = owner !== undefined && owns(owner, assistant)
      if ((assistant.public && !assistant.suspended) || isOwn) return assistant
      throw owner === undefined ? new AppError('unauthenticated', 'An access token is required.') : foreign()
    },

    readOwn,

    /** That of the token's project; any other is `not_found`. */
    readIn,

    /** Up to two assistants of the token's project with that name: one cannot be meant if there are more. */
    named: ({ projectId }: InProject, name: string): Promise<AssistantRecord[]> =>
      assistants
        .find({ project_id: projectId, name, ...present })
        .limit(2)
        .lean<AssistantRecord[]>()
        .exec(),

    /** The newest assistants of the token's project. */
    newestIds: ({ projectId }: InProject, limit: number): Promise<Pick<AssistantRecord, '_id' | 'created_at'>[]> =>
      assistants
        .find({ project_id: projectId, ...present }, { created_at: 1 })
        .sort({ created_at: -1, _id: -1 })
        .limit(limit)
        .lean<Pick<AssistantRecord, '_id' | 'created_at'>[]>()
        .exec(),

    /** A page of the assistants of the token's project. */
    page: ({ projectId }: InProject, query: PageQuery): Promise<Page<AssistantRecord>> => {
      const own = { project_id: projectId, ...present }
      return storedPage(query, {
        find: (id) =>
          assistants
            .findOne({ _id: id, ...own }, { created_at: 1 })
            .lean<AssistantRecord>()
            .exec(),
        read: (range, sort) =>
          assistants
            .find({ ...own, ...range })
            .sort(sort)
            .lean<AssistantRecord>()
            .batchSize(configsAtOnce),
        bytesOf: (assistant) => configs.bytesOf(assistant) + restBytes,
      })
    },
  }

  async function readIn({ projectId }: InProject, assistantId: string): Promise<AssistantRecord> {
    const own = { _id: assistantId, project_id: projectId, ...present }
    const assistant = await assistants.findOne(own).lean<AssistantRecord>()
    if (assistant === null) throw missing()
    return assistant
  }

  async function find(assistantId: string): Promise<AssistantRecord> {
    const assistant = await assistants.findOne({ _id: assistantId, ...present }).lean<AssistantRecord>()
    if (assistant === null) throw missing()
    return assistant
  }

  /** Throws `not_found` for a missing assistant and `forbidden` for another user's, public or not. */
  async function readOwn(owner: Owner, assistantId: string): Promise<AssistantRecord> {
    const assistant = await find(assistantId)
    if (!owns(owner, assistant)) throw foreign()
    return assistant
  }
}

export function missing(): AppError {
  return new AppError('not_found', 'There is no such assistant.')
}

export function foreign(): AppError {
  return new AppError('forbidden', 'This assistant belongs to another user.')
}
