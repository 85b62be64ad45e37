import { QueryClient, focusManager, keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { ApiError, type Schemas, createClient, unwrap } from '../../../client/src/index.ts'
import { refusalMessage } from './error-messages.ts'
import { fetchExact } from './exact-numbers.ts'
import { keepSellsPlans } from './sells-plans.ts'
import { expire, getSession } from './session.ts'

export { ApiError, type Schemas, unwrap }

/** What a request answers; null if there is no such thing. */
export async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}

export type Assistant = Schemas['Assistant']
export type Thread = Schemas['Thread']
export type Project = Schemas['Project']
export type Member = Schemas['ProjectMember']
export type Run = Schemas['Run']
export type KnowledgeFile = Schemas['EmbeddedFile']
export type { Message } from '../../../client/src/index.ts'

export const tokenOf = () => getSession()?.token

/**
 * The service that this page came from. The session ends when it refuses the token; when it refuses an action, the role
 * may have changed, or the access to the project may have ended.
 */
export const api = createClient({
  baseUrl: '',
  token: tokenOf,
  fetch: async (request) => {
    const response = await fetchExact(request)
    if (response.status === 401 && request.headers.has('authorization')) expire()
    if (response.status === 403) lookAtRoles()
    return response
  },
})

/** Not more often: what repeats by itself may be refused each time. */
const betweenPollsMs = 3000

let nextPoll: ReturnType<typeof setTimeout> | undefined

function lookAtRoles(): void {
  const { dataUpdatedAt = 0 } = queryClient.getQueryState(keys.projects) ?? {}
  nextPoll ??= setTimeout(
    () => {
      nextPoll = undefined
      void queryClient.invalidateQueries({ queryKey: keys.projects })
    },
    Math.max(0, dataUpdatedAt + betweenPollsMs - Date.now()),
  )
}

// A window beside another one gets the focus without having been hidden.
focusManager.setEventListener((onFocus) => {
  const look = () => onFocus()
  window.addEventListener('focus', look)
  document.addEventListener('visibilitychange', look)
  return () => {
    window.removeEventListener('focus', look)
    document.removeEventListener('visibilitychange', look)
  }
})

/** For lists to which another tab or device adds: who comes back from there sees it at once. */
export const whenBack = { refetchOnWindowFocus: 'always' } as const

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      refetchOnWindowFocus: true,
      retry: (count, error) => !(error instanceof ApiError && error.status < 500) && count < 3,
    },
  },
})

/** After a change of the project: removes the data of the old one and loads the page's data again. */
export async function forgetAnswers(): Promise<void> {
  queryClient.removeQueries({ type: 'inactive' })
  await queryClient.resetQueries()
}

/** The message of an error for people. */
export function wordsOf(error: unknown, fallback: string): string {
  if (error instanceof ApiError) return refusalMessage(error)
  if (error instanceof TypeError) return fallback
  return error instanceof Error ? error.message : fallback
}

export interface ConsoleSettings {
  /** The operator's own; null without one. */
  product: { name: string | null; color: string | null }
  mailbox_url: string | null
  /** Whether a page at the service's own machine may operate it. */
  local_page: boolean
  temporal_ui_url: string | null
  temporal_namespace: string
  social_login: boolean
  billing: boolean
  /** Whether servers are set that write down speech, and that read aloud. */
  can_listen: boolean
  can_speak: boolean
  /** Whether a model is set that names chats and suggests questions. */
  suggests: boolean
}

export async function readConsoleSettings(): Promise<ConsoleSettings> {
  // oxlint-disable-next-line typescript/no-unsafe-assignment -- the service's own file, written with this type in mind
  const settings: ConsoleSettings = await (await fetch('/console-settings.json')).json()
  keepSellsPlans(settings.billing)
  return settings
}

export function useConsoleSettings(): ConsoleSettings | undefined {
  return useQuery({ queryKey: ['console-settings'], staleTime: Infinity, queryFn: readConsoleSettings }).data
}

export const keys = {
  me: ['me'],
  projects: ['projects'],
  members: (projectId: string) => ['members', projectId],
  groups: ['groups'],
  assistants: ['assistants'],
  assistant: (id: string) => ['assistant', id],
  files: (id: string) => ['files', id],
  chatFiles: (threadId: string) => ['chat-files', threadId],
  threads: ['threads'],
  tags: ['threads', 'tags'],
  folders: ['folders'],
  filesOfFolder: (id: string) => ['folder-files', id],
  folderFiles: (id: string, storeId: string | null) => ['folder-files', id, storeId],
  foundMessages: (query: string) => ['threads', 'found', query],
  share: (id: string) => ['share', id],
  shares: ['shares'],
  thread: (id: string) => ['thread', id],
  state: (id: string) => ['state', id],
  runs: (id: string) => ['runs', id],
  usage: ['usage'],
  tools: ['tools'],
  prompts: ['prompts'],
  models: ['models'],
  plans: ['plans'],
  checkout: (id: string) => ['checkout', id],
  audit: ['audit'],
  budget: (id: string) => ['budget', id],
  reembedding: (id: string) => ['reembedding', id],
  /** Without `owner`: all of them. */
  memory: (owner?: string) => (owner === undefined ? ['memory'] : ['memory', owner]),
  sources: (id: string) => ['sources', id],
  sourcePages: (id: string) => ['source-pages', id],
  schedules: ['schedules'],
  scheduleRuns: (id: string) => ['schedule-runs', id],
  scheduleAnswer: (runId: string) => ['schedule-answer', runId],
  scheduleTimes: (cron: string, timezone: string) => ['schedule-times', cron, timezone],
} as const

const meOnce = { queryKey: keys.me, queryFn: () => unwrap(api.GET('/user/')) }
export const useMe = () => useQuery(meOnce)
/** For what must notice within a minute that the user's password was changed elsewhere. */
export const useMeEachMinute = () => useQuery({ ...meOnce, refetchInterval: 60_000 })

export const useUsage = () => useQuery({ queryKey: keys.usage, queryFn: () => unwrap(api.GET('/user/usage')) })

const allProjects = { queryKey: keys.projects, queryFn: () => unwrap(api.GET('/projects/')) }
export const useProjects = () => useQuery(allProjects)
/** For what must notice within a minute that the user's role was changed, or that he was removed. */
export const useProjectsEachMinute = () => useQuery({ ...allProjects, refetchInterval: 60_000 })

/** Who uses a project, and who is invited to. */
export const useMembers = (projectId: string) =>
  useQuery({
    queryKey: keys.members(projectId),
    queryFn: async () =>
      (await unwrap(api.GET('/projects/{project_id}/members', { params: { path: { project_id: projectId } } })))
        .members,
  })

export const useAssistants = () =>
  useQuery({
    queryKey: keys.assistants,
    queryFn: () => unwrap(api.GET('/assistants/', { params: { query: { limit: 1000 } } })),
  })

export const useAssistant = (id: string) =>
  useQuery({
    queryKey: keys.assistant(id),
    queryFn: () => unwrap(api.GET('/assistants/{aid}', { params: { path: { aid: id } } })),
  })

export const useFiles = (id: string | undefined) =>
  useQuery({
    queryKey: keys.files(id ?? ''),
    enabled: id !== undefined,
    queryFn: () =>
      unwrap(api.GET('/assistants/{aid}/files', { params: { path: { aid: id ?? '' }, query: { limit: 1000 } } })),
    // Another tab or client may have uploaded: poll while an upload is under way.
    refetchInterval: ({ state }) =>
      state.data?.files.some(({ metadata }) => metadata.status === 'queued' || metadata.status === 'processing')
        ? 1500
        : false,
  })

const isCrawled = ({ status }: Schemas['Source']) => status === 'queued' || status === 'crawling'

/** What an assistant knows of the web. */
export const useSources = (id: string) =>
  useQuery({
    queryKey: keys.sources(id),
    queryFn: () =>
      unwrap(api.GET('/assistants/{aid}/sources', { params: { path: { aid: id }, query: { limit: 1000 } } })),
    refetchInterval: ({ state }) => (state.data?.sources.some(isCrawled) ? 1500 : false),
  })

const threadsInPage = 200

/**
 * The chats of the project in none of the user's folders, newest first, in pages; with a tag, only those that have it; the
 * archived ones alone, or the others. With a tag, archived or `everywhere`: those in folders, too.
 */
export const useThreads = (tag?: string, archived = false, everywhere = false) =>
  useInfiniteQuery({
    queryKey: [...keys.threads, 'list', tag, archived, everywhere],
    ...whenBack,
    initialPageParam: 0,
    // Who searches begins with what is in the list already.
    ...(everywhere && { placeholderData: keepPreviousData }),
    queryFn: ({ pageParam: offset }) =>
      unwrap(
        api.GET('/threads/', {
          params: {
            query: {
              limit: threadsInPage,
              offset,
              ...(archived && { archived }),
              ...(tag !== undefined && { tag }),
              ...(!archived && !everywhere && tag === undefined && { folder_id: 'none' }),
            },
          },
        }),
      ),
    // A page may be shorter than its limit, because answers are limited in bytes.
    getNextPageParam: ({ threads, total, offset }) => {
      const next = offset + threads.length
      return threads.length > 0 && next < total ? next : undefined
    },
  })

export const usePinnedThreads = (tag?: string) =>
  useQuery({
    queryKey: [...keys.threads, 'pinned', tag],
    ...whenBack,
    queryFn: () =>
      unwrap(
        api.GET('/threads/', {
          params: { query: { limit: threadsInPage, pinned: true, ...(tag !== undefined && { tag }) } },
        }),
      ),
  })

export const useTags = () => useQuery({ queryKey: keys.tags, queryFn: () => unwrap(api.GET('/tags/')) })

/** The keys of an assistant's configuration. */
export const configKey = {
  accessMode: 'type==agent/access_mode',
  publicToken: 'type==agent/public_token',
  model: 'type==agent/model',
  systemMessage: 'type==agent/system_message',
  temperature: 'type==agent/temperature',
  effort: 'type==agent/reasoning_effort',
  tools: 'type==agent/tools',
  retrievalDescription: 'type==agent/retrieval_description',
  maxSteps: 'type==agent/max_steps',
  approval: 'type==agent/interrupt_before_action',
  origins: 'type==agent/allowed_origins',
  description: 'type==agent/description',
  starters: 'type==agent/starters',
  publicPage: 'type==agent/public_page',
  chatLook: 'type==agent/chat_look',
  keepsChats: 'type==agent/keeps_chats',
} as const
