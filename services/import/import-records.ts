import { Value } from 'typebox/value'
import { withNewParentRuns } from '../../domain/archive/child-run-ids.ts'
import type { ReadRecords } from '../../domain/archive/items.ts'
import type { NewIds } from '../../domain/archive/new-ids.ts'
import { AssistantConfig, codeFilesKey, toolsKey, vectorStoresKey } from '../../domain/assistant-config.ts'
import { cutText } from '../../domain/cut-text.ts'
import { AppError } from '../../domain/errors.ts'
import { isJsonObject } from '../../domain/json.ts'
import { withoutAuthors } from '../../domain/messages.ts'
import { type RunRecord, isOpenRun } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import { runErrorTypeOf } from '../../domain/run-errors.ts'
import type { Assistants } from '../assistants/index.ts'
import { refused } from '../capability.ts'
import type { Collections } from '../collections.ts'
import type { createProjects } from '../projects/index.ts'
import { assistantStore } from '../stores/assistants.ts'
import { projectStore } from '../stores/projects.ts'
import { runStore } from '../stores/runs.ts'
import { threadStore } from '../stores/threads.ts'
import type { CreateThread } from '../threads/create-thread.ts'
import { normalisedTags } from '../threads/write-threads.ts'
import { type ImportV1Deps, createV1Import, isUncounted } from './import-v1.ts'
import { type Import, importedThread } from './import.ts'
import { withNewItems } from './item-ids.ts'
import { recordOutcome } from './report.ts'

export interface ImportRecordsDeps extends ImportV1Deps {
  collections: Pick<Collections, 'projects' | 'assistants' | 'threads' | 'runs'>
  projects: Pick<ReturnType<typeof createProjects>, 'create'>
  assistants: Pick<Assistants, 'restoreUnder'>
  createThread: CreateThread
}

const accessModeKey = 'type==agent/access_mode'
const namesTried = 20

/**
 * Stores the records of an archive, each under the id that `idOf` gives it. A record that exists already is counted
 * and not changed. A record that a rule of the service refuses is reported, and so are the records below it. Parents
 * come before their children.
 */
export function createRecordImport(deps: ImportRecordsDeps, { userId, idOf, report }: Import) {
  const { collections } = deps
  const projects = projectStore(collections)
  const assistants = assistantStore(collections)
  const threads = threadStore(collections)
  const runs = runStore(collections)
  const { create: createProject } = deps.projects
  const v1Of = createV1Import(deps, idOf)
  let home: Promise<string> | undefined

  /** A member's archive has his threads of projects that others hold, and not these projects: they go into his oldest. */
  async function projectFor(id: string): Promise<string> {
    if (await projects.hasOwned(userId, id)) return id
    home ??= oldestProject()
    return home
  }

  async function oldestProject(): Promise<string> {
    const found = await projects.oldestOf(userId)
    if (found === undefined) throw refused('there is no project for it')
    return found
  }

  return {
    project: ({ project_id: oldId, name, description, created_at }: ReadRecords['projects']) =>
      recordOutcome(report, 'projects', oldId, async () => {
        const id = idOf('project', oldId)
        const isNew = !(await projects.hasOwned(userId, id))
        if (isNew) await underFreeName(name, (free) => createProject(userId, { name: free, description }, id))
        // Even if the project exists: an earlier import may have been interrupted before this statement.
        await projects.noteImported(userId, id, new Date(created_at))
        return isNew ? 'imported' : 'existing'
      }),

    assistant: (archived: ReadRecords['assistants']) =>
      recordOutcome(report, 'assistants', archived.assistant_id, async () => {
        const id = idOf('assistant', archived.assistant_id)
        const config = withNewIds(
          Object.fromEntries(Object.entries(archived.config).filter(([key]) => key !== accessModeKey)),
          idOf,
        )
        if (archived.config[accessModeKey] !== undefined && archived.config[accessModeKey] !== 'authenticated')
          report.unpublish(id)
        report.missSecrets(id, archived.name, archived.missing)
        if (await assistants.hasOwned(userId, id)) return 'existing'
        if (!Value.Check(AssistantConfig, config)) throw refused('its configuration is not valid here')
        const owner = { userId, projectId: idOf('project', archived.project_id) }
        await deps.assistants.restoreUnder(owner, id, { name: archived.name, config })
        await assistants.noteImported(userId, id, new Date(archived.created_at))
        return 'imported'
      }),

    thread: (archived: ReadRecords['threads']) =>
      recordOutcome(report, 'threads', archived.thread_id, async () => {
        const id = idOf('thread', archived.thread_id)
        if (await threads.hasOwned(userId, id)) return 'existing'
        // A thread may name an assistant of another user, which the archive does not contain.
        const assistantId = archived.assistant_id && idOf('assistant', archived.assistant_id)
        const hasAssistant = assistantId !== undefined && (await assistants.hasOwned(userId, assistantId))
        if (archived.public && !hasAssistant) throw refused('its assistant was not imported')
        await deps.createThread({
          id,
          userId,
          projectId: await projectFor(idOf('project', archived.project_id)),
          name: archived.name,
          metadataJson: archived.metadata_json,
          assistantId: hasAssistant ? assistantId : undefined,
          public: archived.public,
          ...(archived.kind === undefined ? {} : { kind: archived.kind }),
          vectorStores: archived.vector_stores?.map((store) => idOf('assistant', store)),
          codeFiles: archived.code_files?.map((file) => idOf('file', file)),
          ...(archived.pinned === undefined ? {} : { pinned: archived.pinned }),
          ...(archived.archived === undefined ? {} : { archived: archived.archived }),
          ...(archived.folder_id === undefined ? {} : { folderId: idOf('folder', archived.folder_id) }),
          ...(archived.tags === undefined ? {} : { tags: normalisedTags(archived.tags) }),
          // Threads of public callers do not count against the quota. This one does, because anybody can write an
          // archive that calls its threads public.
          ...(archived.public ? { counted: true } : isUncounted(archived) ? { counted: false } : {}),
          parentThreads: archived.asked_from?.map((above) => idOf('thread', above)),
          earlier: {
            created_at: new Date(archived.created_at),
            updated_at: new Date(archived.updated_at),
            last_outcome: archived.last_outcome ?? 'none',
          },
        })
        return 'imported'
      }),

    run: (archived: ReadRecords['runs']) =>
      recordOutcome(report, 'runs', archived.run_id, async () => {
        const id = idOf('run', archived.run_id)
        const thread = await importedThread(collections, userId, idOf('thread', archived.thread_id))
        if (await runs.hasOwnedInThread(userId, { _id: id, thread_id: thread._id })) return 'existing'
        await runs.add(
          importedRun(
            {
              ...archived,
              input_json: await withNewItems(withoutAuthors(archived.input_json), idOf, thread),
              ...(archived.asked_by === undefined ? {} : { asked_by: withNewParentRuns(archived.asked_by, idOf) }),
            },
            { id, assistantId: idOf('assistant', archived.assistant_id), thread, v1: v1Of(archived, thread) },
          ),
        )
        // Stored first and checked afterwards: see services/parents.ts.
        if ((await threads.findOwned(userId, thread._id)) !== null) return 'imported'
        await runs.remove({ _id: id, thread_id: thread._id })
        throw refused('its thread was deleted')
      }),
  }
}

/** The configuration, naming vector stores, files, and assistants that may be asked, as they were imported. */
function withNewIds(config: Record<string, unknown>, idOf: NewIds): Record<string, unknown> {
  const renamed = (ids: unknown, kind: 'assistant' | 'file' = 'assistant') =>
    Array.isArray(ids) ? ids.map((id: unknown) => (typeof id === 'string' ? idOf(kind, id) : id)) : ids
  const { [vectorStoresKey]: stores, [codeFilesKey]: files, [toolsKey]: tools } = config
  return {
    ...config,
    ...(stores === undefined ? {} : { [vectorStoresKey]: renamed(stores) }),
    ...(files === undefined ? {} : { [codeFilesKey]: renamed(files, 'file') }),
    ...(Array.isArray(tools) ? { [toolsKey]: tools.map(withChildAssistants) } : {}),
  }

  function withChildAssistants(tool: unknown): unknown {
    if (!isJsonObject(tool) || tool['type'] !== 'assistant' || !isJsonObject(tool['config'])) return tool
    const { assistant_ids: ids, ...rest } = tool['config']
    return ids === undefined ? tool : { ...tool, config: { ...rest, assistant_ids: renamed(ids) } }
  }
}

/** Names of projects are unique: a name that is taken gets an addition. */
async function underFreeName(name: string, create: (name: string) => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const addition = attempt === 1 ? '' : attempt === 2 ? ' (imported)' : ` (imported ${attempt - 1})`
    try {
      await create(`${cutText(name, 100 - addition.length)}${addition}`)
      return
    } catch (error) {
      const isTaken = error instanceof AppError && error.code === 'bad_request' && name.trim() !== ''
      if (!isTaken || attempt === namesTried) throw error
    }
  }
}

/** What a run is on `/v1`. */
type RunOfV1 = Pick<RunRecord, 'completion' | 'response_json' | 'response_removed'>

/** The record of an archived run. A run that was open there has ended here: nothing carries it on. */
function importedRun(
  archived: ReadRecords['runs'],
  { id, assistantId, thread, v1 }: { id: string; assistantId: string; thread: ThreadRecord; v1: RunOfV1 },
): RunRecord {
  const created = new Date(archived.created_at)
  const isOpen = isOpenRun(archived)
  return {
    _id: id,
    thread_id: thread._id,
    user_id: thread.user_id,
    project_id: thread.project_id,
    assistant_id: assistantId,
    public: thread.public,
    acting: { person: 'owner', origin: thread.public ? 'public' : 'chat' },
    status: isOpen ? 'cancelled' : archived.status,
    input_json: archived.input_json,
    overrides: archived.overrides,
    ...v1,
    ...(archived.finish_reason === undefined ? {} : { finish_reason: archived.finish_reason }),
    ...(archived.metadata_json === undefined ? {} : { metadata_json: archived.metadata_json }),
    fence: 1,
    imported: true,
    ...(archived.asked_by === undefined ? {} : { asked_by: archived.asked_by }),
    ...(archived.usage === undefined ? {} : { usage: archived.usage }),
    ...(archived.usage_by_model === undefined ? {} : { usage_by_model: archived.usage_by_model }),
    ...(archived.model === undefined ? {} : { model: archived.model }),
    ...(archived.error === undefined
      ? {}
      : { error: { ...archived.error, type: runErrorTypeOf(archived.error.type) } }),
    created_at: created,
    ...(archived.started_at === undefined ? {} : { started_at: new Date(archived.started_at) }),
    finished_at: archived.finished_at === undefined ? created : new Date(archived.finished_at),
  }
}
