import type { ChatAppearance } from '../../domain/assistant-config.ts'
import { attachmentLimits } from '../../domain/content-parts.ts'
import { AppError } from '../../domain/errors.ts'
import { maxMessageBytes } from '../../domain/message-size.ts'
import { messagesToJson } from '../../domain/messages.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { AssistantConfigs } from '../assistants/configs.ts'
import { ownAssistantStore } from '../assistants/store.ts'
import type { Downloads } from '../attachments/downloads.ts'
import type { Received } from '../attachments/receive-content.ts'
import type { Collections } from '../collections.ts'
import type { EraseUnstored } from '../deletion/erase-unstored.ts'
import type { ModelsNow } from '../models/live-models.ts'
import { createNoteUse } from '../note-activity.ts'
import {
  type FollowedRun,
  type NewRun,
  type RunFeed,
  type RunRequest,
  type Runs,
  inputMessages,
} from '../runs/index.ts'
import { runStore } from '../stores/runs.ts'
import type { CreateThread } from '../threads/create-thread.ts'
import type { ScanLog } from '../threads/log-scan.ts'
import type { PendingInput, ThreadLog } from '../threads/log.ts'
import { publicRunStore, openAssistantStore } from './store.ts'
import type { StoreKilobytes } from './stored-kilobytes.ts'
import { createPublicThreads } from './threads.ts'

interface PublicFamilyDeps {
  collections: Pick<Collections, 'assistants' | 'threads' | 'runs' | 'users'>
  downloads: Downloads
  storeKilobytes: StoreKilobytes
  assistantConfigs: AssistantConfigs
  createThread: CreateThread
  log: Pick<ThreadLog, 'append' | 'find'>
  scanLog: ScanLog
  pendingInput: Pick<PendingInput, 'missingFromLog'>
  runs: Pick<Runs, 'startFollowed' | 'follow' | 'cancel'>
  eraseUnstored: EraseUnstored
  settings: OriginSettings
  models: ModelsNow
}

/** What public callers may see of an assistant: no instructions, tools or accounts. */
export interface PublicAssistant {
  id: string
  name: string
  description: string
  starters: string[]
  appearance: ChatAppearance
  keepsChats: boolean
  model: string
  temperature: number | undefined
  createdAt: Date
}

export type PublicFamily = ReturnType<typeof createPublicFamily>

/** Operations of callers without an account. Each is limited to one assistant. */
export function createPublicFamily(deps: PublicFamilyDeps) {
  const { collections, assistantConfigs, runs, settings } = deps
  const noteUse = createNoteUse(collections.users)
  const follow = (run: RunRecord): Promise<RunFeed> => runs.follow(run)

  async function findRun(own: { _id: string; assistant_id?: string }): Promise<RunRecord> {
    const run = await publicRunStore(collections).find(own)
    if (run === null) throw new AppError('not_found', 'There is no such run.')
    return run
  }

  return {
    access: createPublicAccess(collections, assistantConfigs),
    origins: createPublicOrigins(collections, settings),
    threads: createPublicThreads(deps),

    about(assistant: AssistantRecord): PublicAssistant {
      const settings = assistantConfigs.settingsOf(assistant)
      const { description, starters, chatAppearance: appearance, keepsChats, model, temperature } = settings
      return {
        id: assistant._id,
        name: assistant.name,
        description,
        starters,
        appearance,
        keepsChats,
        model: model ?? deps.models.current().defaultModel,
        temperature,
        createdAt: assistant.created_at,
      }
    },

    keepsChats: (assistant: AssistantRecord): boolean => assistantConfigs.settingsOf(assistant).keepsChats,
    showsReasoning: (assistant: AssistantRecord): boolean => assistantConfigs.settingsOf(assistant).showReasoning,
    tokenOf: (assistant: AssistantRecord): string => assistantConfigs.settingsOf(assistant).publicToken ?? '',

    /** Base URL of the compat family, for OpenAI-compatible clients. */
    compatUrl: new URL('/public/compat/v1', settings.baseUrl).toString(),

    /** The input of a run, within the limits of public callers. */
    input: (assistant: AssistantRecord, messages: RunRequest['input'], loc?: string[]): Promise<Received> => {
      const limits = { maxBytes: maxMessageBytes.public, limits: attachmentLimits.public }
      return deps.downloads.within(`public ${assistant._id}`, (download) =>
        inputMessages({ download }, messages, { ...limits, ...(loc && { loc }) }),
      )
    },

    /** Starts a run and follows it from its first event. */
    start: async (newRun: Omit<NewRun, 'public'>, runId: string): Promise<FollowedRun> => {
      const { assistant, input, attachments = [], metadataJson = '' } = newRun
      // Whose assistants are used is not inactive. The run does not wait for that, and starts without it.
      noteUse(assistant.user_id).catch(() => undefined)
      const attached = attachments.reduce((sum, { size }) => sum + size, 0)
      const bytes = Buffer.byteLength(messagesToJson(input) + metadataJson) + attached
      return deps.storeKilobytes(assistant._id, bytes, () => runs.startFollowed({ ...newRun, public: true }, runId))
    },

    /** Deletes a run with its thread and messages, or begins to: its caller has the answer and does not want it stored. */
    forget: deps.eraseUnstored,

    cancel: (run: RunRecord): Promise<RunRecord> => runs.cancel(run),

    /** A run of public callers; any other is `not_found`. Its assistant's access mode decides who may see it. */
    findRun: (runId: string): Promise<RunRecord> => findRun({ _id: runId }),

    /** The state of a run for its readers, open or ended. */
    follow,

    /** The runs of one assistant's public callers; any other is `not_found`. */
    runsOf: (assistant: AssistantRecord) => ({
      find: (runId: string): Promise<RunRecord> => findRun({ _id: runId, assistant_id: assistant._id }),
      follow,
    }),

    /** The run as stored. */
    async reread(run: RunRecord): Promise<RunRecord> {
      return (await runStore(collections).findInThread(run)) ?? run
    },
  }
}

/**
 * Decides who may use an assistant without an account, by its access mode. `tokens` are all tokens that a request
 * carries; one matching token is enough. The database contains only keyed hashes of tokens.
 */
function createPublicAccess(
  collections: Pick<Collections, 'assistants'>,
  configs: Pick<AssistantConfigs, 'containsToken' | 'settingsOf' | 'tokenHashes'>,
) {
  const { findOfAny } = ownAssistantStore(collections)
  const { findByTokenOfAny } = openAssistantStore(collections)

  return {
    /** The assistant with that id if it has a public page; undefined in every other case. */
    async withPage(assistantId: string): Promise<AssistantRecord | undefined> {
      const assistant = await findOfAny(assistantId)
      if (assistant === null || assistant.suspended || assistant.access_mode === 'authenticated') return undefined
      return configs.settingsOf(assistant).publicPage ? assistant : undefined
    },

    /**
     * The assistant with that id. Throws `not_found`, `forbidden` while it is not public, `unauthenticated` without
     * its token.
     */
    async byId(assistantId: string, tokens: string[]): Promise<AssistantRecord> {
      const assistant = await findOfAny(assistantId)
      if (assistant === null) throw new AppError('not_found', 'There is no such assistant.')
      if (assistant.suspended) throw new AppError('forbidden', 'This assistant is not available.')
      switch (assistant.access_mode) {
        case 'authenticated':
          throw new AppError('forbidden', 'This assistant is not open to the public.')
        case 'public_token':
          if (!tokens.some((token) => configs.containsToken(assistant, token))) throw refused()
          return assistant
        case 'public_no_auth':
          return assistant
      }
    },

    /**
     * The assistant that a token selects. Throws `unauthenticated` in every other case, so that a caller cannot
     * learn which tokens exist.
     */
    async byToken(tokens: string[]): Promise<AssistantRecord> {
      for (const token of tokens) {
        const assistant = await findByTokenOfAny(configs.tokenHashes(token))
        if (assistant !== null && !assistant.suspended && assistant.access_mode !== 'authenticated') return assistant
      }
      throw refused()
    },
  }
}

function refused(): AppError {
  return new AppError('unauthenticated', 'The public token is missing or wrong.')
}

interface OriginSettings {
  baseUrl: string
  corsOrigins: string[]
}

export type PublicOrigins = ReturnType<typeof createPublicOrigins>

/** The origins whose pages may call the public endpoints from a browser. */
function createPublicOrigins(collections: Pick<Collections, 'assistants'>, settings: OriginSettings) {
  const everywhere = new Set([...settings.corsOrigins, new URL(settings.baseUrl).origin])

  return {
    /** Whether any assistant allows this origin. Before the token is read, no more can be checked. */
    async isKnown(origin: string): Promise<boolean> {
      return everywhere.has(origin) || openAssistantStore(collections).isOriginKnownOfAny(origin)
    },

    /**
     * Whether a page of that origin may read the answers of this assistant. Throws `forbidden` if the assistant
     * lists origins and this is not one of them, so that no run is started at the owner's expense.
     */
    admits(assistant: AssistantRecord, origin: string): boolean {
      if (everywhere.has(origin) || assistant.allowed_origins.includes(origin)) return true
      if (assistant.allowed_origins.length === 0) return false
      throw new AppError('forbidden', 'This assistant may not be called from this origin.')
    },
  }
}
