import { AppError } from '../../domain/errors.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import { type PageQuery } from '../cursor-page.ts'
import { type Owner, owns } from '../owner.ts'
import { type Page, type PageRange } from '../page.ts'
import type { AssistantConfigs } from './configs.ts'
import { ownAssistantStore } from './store.ts'

export type AssistantReads = ReturnType<typeof createAssistantReads>

interface InProject {
  projectId: string
}

export type { ListedAssistant } from './store.ts'

export function createAssistantReads(deps: {
  collections: Pick<Collections, 'assistants'>
  configs: AssistantConfigs
}) {
  const { collections, configs } = deps
  const assistants = ownAssistantStore(collections)

  return {
    /** The assistants of the token's project, oldest first. */
    list: ({ projectId }: InProject, range: PageRange): Promise<Page<AssistantRecord>> =>
      assistants.listInProject(projectId, range, configs.bytesOf),

    /** The public assistants, newest first. Only the public members of their configurations are read. */
    listPublic: assistants.listPublicOfAny,

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
      assistants.listByName(projectId, name, 2),

    /** The newest assistants of the token's project. */
    newestIds: ({ projectId }: InProject, limit: number): Promise<Pick<AssistantRecord, '_id' | 'created_at'>[]> =>
      assistants.listNewest(projectId, limit),

    /** A page of the assistants of the token's project. */
    page: ({ projectId }: InProject, query: PageQuery): Promise<Page<AssistantRecord>> =>
      assistants.pageInProject(projectId, query, configs.bytesOf),
  }

  async function readIn({ projectId }: InProject, assistantId: string): Promise<AssistantRecord> {
    const assistant = await assistants.findInProject(projectId, assistantId)
    if (assistant === null) throw missing()
    return assistant
  }

  async function find(assistantId: string): Promise<AssistantRecord> {
    const assistant = await assistants.findOfAny(assistantId)
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
