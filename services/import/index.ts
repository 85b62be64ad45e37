import type { Readable } from 'node:stream'
import type { ArchiveItem, ReadRecord, ReadRecords } from '../../domain/archive/items.ts'
import { newIdsFor } from '../../domain/archive/new-ids.ts'
import { AppError } from '../../domain/errors.ts'
import { type Restores, refused } from '../capability.ts'
import type { Collections } from '../collections.ts'
import { parentsRemain } from '../parents.ts'
import { assistantStore } from '../stores/assistants.ts'
import { evaluationStore } from '../stores/evaluations.ts'
import { type Transfer, createTransfers } from '../transfers.ts'
import { createAllowance } from './allowance.ts'
import { type ImportEntriesDeps, createEntryImport } from './import-entries.ts'
import {
  type ImportAttachmentsDeps,
  createAttachmentImport,
  type ImportFilesDeps,
  createFileImport,
  type ImportVectorStoresDeps,
  createVectorStoreImport,
} from './import-files.ts'
import { type ImportRecordsDeps, createRecordImport } from './import-records.ts'
import { type ImportRunPartsDeps, createRunPartsImport } from './import-run-parts.ts'
import type { Import } from './import.ts'
import type { ReadArchive } from './read-archive.ts'
import { type ImportReport, createReport, recordOutcome } from './report.ts'

type ImportsDeps = ImportRecordsDeps &
  ImportAttachmentsDeps &
  ImportEntriesDeps &
  ImportRunPartsDeps &
  ImportFilesDeps &
  ImportEvaluationsDeps &
  ImportVectorStoresDeps & {
    collections: Pick<Collections, 'users'>
    readArchive: ReadArchive
    /** Of the declared kinds. */
    restores: Restores
    settings: { importMaxMb: number; importDayMaxMb?: number; archivesAtOnce?: number }
  }

/** What a user may import on a day, in archives of the largest size: enough for two attempts that were cut off. */
const archivesOfADay = 3

/**
 * Imports archives that `services/export` made, into the account of the caller. The archive is read as it arrives and
 * is not stored: records are stored under ids that are made from the old ones, so that an import that was cut off is
 * completed by repeating it, and none of it is imported twice.
 */
export function createImports({ settings, readArchive, ...deps }: ImportsDeps) {
  const transfers = createTransfers({ slots: settings.archivesAtOnce, name: 'import' })
  const dayMaxMb = settings.importDayMaxMb ?? archivesOfADay * settings.importMaxMb

  return {
    /**
     * Throws `invalid_input` for an archive that is damaged or of another kind, `payload_too_large` for one that is
     * too large, `too_many_requests` while another import of the user is under way and beyond the limit of a day,
     * `request_timeout` when the archive arrives too slowly, `forbidden` when the user is suspended. What came before
     * stays. `gone` is aborted when the client disconnects.
     */
    async receive(userId: string, packed: Readable, gone: AbortSignal): Promise<ImportReport> {
      const transfer = await transfers.open(userId, gone)
      const allowance = createAllowance(deps, { userId, maxMb: dayMaxMb })
      let unpacked = 0
      const onProgress = (bytes: number) => {
        unpacked = bytes
        return allowance.check(bytes)
      }
      const source = arriving(packed, transfer)
      try {
        await onProgress(0)
        const { signal } = transfer
        const items = readArchive(source.pieces, { maxMb: settings.importMaxMb, userId, signal, onProgress })
        return await importItems(userId, items)
      } finally {
        transfer.end()
        source.close()
        await allowance.end(unpacked)
      }
    },
  }

  async function importItems(userId: string, items: AsyncIterable<ArchiveItem>): Promise<ImportReport> {
    const report = createReport()
    const target = { userId, idOf: newIdsFor(userId), report }
    const stored = createRecordImport(deps, target)
    const entries = createEntryImport(deps, target)
    const parts = createRunPartsImport(deps, target)
    const shelves = createVectorStoreImport(deps, target)
    const importEvaluation = createEvaluationImport(deps, target)
    const receiveFile = createFileImport(deps, target)
    const receiveAttachment = createAttachmentImport(deps, target)
    for await (const item of items) {
      if (item.type === 'record') await store(item)
      else if (item.type === 'refused') report.refuse(item.kind, item.id, item.reason)
      else if (item.kind === 'files') await receiveFile(item.file, item.content)
      else await receiveAttachment(item.file, item.content)
    }
    entries.end()
    return report.report

    function store(item: ReadRecord): Promise<void> {
      switch (item.kind) {
        case 'projects':
          return stored.project(item.record)
        case 'vector_stores':
          return shelves.vectorStore(item.record)
        case 'vector_store_files':
          return shelves.entry(item.record)
        case 'assistants':
          return stored.assistant(item.record)
        case 'threads':
          return stored.thread(item.record)
        case 'messages':
          return entries.take(item.record)
        case 'runs':
          return stored.run(item.record)
        case 'tool_calls':
          return parts.toolCall(item.record)
        case 'feedback':
          return parts.feedback(item.record)
        case 'schedules':
          return recordOutcome(report, item.kind, item.id, () =>
            deps.restores.schedules(userId, item.record, target.idOf),
          )
        case 'sources':
          return recordOutcome(report, item.kind, item.id, () =>
            deps.restores.sources(userId, item.record, target.idOf),
          )
        case 'evaluations':
          return importEvaluation(item.record)
        case 'prompts':
          return recordOutcome(report, item.kind, item.id, () =>
            deps.restores.prompts(userId, item.record, target.idOf),
          )
        case 'memories':
          return recordOutcome(report, item.kind, item.id, () =>
            deps.restores.memories(userId, item.record, target.idOf),
          )
        case 'folders':
          return recordOutcome(report, item.kind, item.id, () =>
            deps.restores.folders(userId, item.record, target.idOf),
          )
        case 'documents':
          return recordOutcome(report, item.kind, item.id, () =>
            deps.restores.documents(userId, item.record, target.idOf),
          )
      }
    }
  }
}

interface ImportEvaluationsDeps {
  collections: Pick<Collections, 'users' | 'assistants' | 'evaluations' | 'projects'>
}

/** Questions of owners and what was found for them. An assistant that has some already keeps its own. */
function createEvaluationImport({ collections }: ImportEvaluationsDeps, { userId, idOf, report }: Import) {
  const evaluations = evaluationStore(collections)
  return (archived: ReadRecords['evaluations']) =>
    recordOutcome(report, 'evaluations', archived.assistant_id, async () => {
      const id = idOf('assistant', archived.assistant_id)
      const assistant = await assistantStore(collections).findOwned(userId, id)
      if (assistant === null || assistant.deleting) throw refused('its assistant was not imported')
      const runs = archived.runs.map((run) => ({ ...run, created_at: new Date(run.created_at) }))
      const record = { _id: id, questions: archived.questions, runs, updated_at: new Date() }
      if (!(await evaluations.add(record))) return 'existing'
      if (await parentsRemain(collections, { project_id: assistant.project_id, assistant_id: id })) return 'imported'
      await evaluations.remove(id)
      throw refused('its assistant is being deleted')
    })
}

/** How long the answer to a client that was too slow may take. */
const lingerMs = 1000

/**
 * The pieces of a body as they arrive; the time until each comes counts as its client's. `close` gives up the rest: it
 * is read, because a client reads an answer only when its whole request was read, and of a slow client it is cut off.
 */
function arriving(body: Readable, transfer: Transfer) {
  const iterator = body.iterator({ destroyOnReturn: false })

  async function* pieces(): AsyncGenerator<Uint8Array, undefined> {
    for (;;) {
      transfer.waits()
      const next = await iterator.next().catch((cause: unknown) => {
        throw brokenOff(cause)
      })
      const bytes = next.done === true ? undefined : Buffer.from(next.value)
      transfer.moved(bytes?.length ?? 0)
      if (bytes === undefined) return
      yield bytes
    }
  }

  return {
    pieces: pieces(),
    close(): void {
      void drain(iterator)
      if (transfer.signal.aborted) setTimeout(() => body.destroy(), lingerMs).unref()
    },
  }
}

/** Reads the rest with the same iterator, because a stream that has one does not continue without it. */
async function drain(iterator: AsyncIterator<unknown>): Promise<void> {
  try {
    while ((await iterator.next()).done !== true);
  } catch {
    // The client has gone.
  }
}

function brokenOff(cause: unknown): AppError {
  if (cause instanceof AppError) return cause
  return new AppError('bad_request', 'The upload of the archive was interrupted.', { cause })
}
