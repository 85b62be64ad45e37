import type { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../domain/errors.ts'
import { createSemaphore } from '../semaphore.ts'
import { type ImportFilesDeps, createFileImport } from './import-files.ts'
import { type ImportRecordsDeps, createRecordImport } from './import-records.ts'
import { type ImportRunPartsDeps, createRunPartsImport } from './import-run-parts.ts'
import { newIdsFor } from './new-ids.ts'
import { unpacked } from './open-archive.ts'
import { type TarMember, readTar, wrongArchive } from './read-tar.ts'
import * as records from './records.ts'
import { type ImportReport, createReport } from './report.ts'

type ImportsDeps = ImportRecordsDeps &
  ImportRunPartsDeps &
  ImportFilesDeps & {
    settings: { importMaxMb: number }
  }

/** Archives that one process reads at once. */
const atOnce = 4
/** A part of an archive has four megabytes and one further line. */
const partMaxBytes = 32 * 1024 * 1024
/** As large as the body of a request. */
const lineMaxBytes = 16 * 1024 * 1024
const smallMemberMaxBytes = 64 * 1024
const maxRecords = 5_000_000
const linesInTurn = 500

/**
 * Imports archives that `services/export` made, into the account of the caller. The archive is read as it arrives and
 * is not stored: records are stored under ids that are made from the old ones, so that an import that was cut off is
 * completed by repeating it, and none of it is imported twice.
 */
export function createImports({ settings, ...deps }: ImportsDeps) {
  const slots = createSemaphore({ slots: atOnce, slotsPerOwner: 1, waitingPerOwner: 0 })

  return {
    /**
     * Throws `invalid_input` for an archive that is damaged or of another kind, `payload_too_large` for one that is
     * too large, `too_many_requests` while another import of the user runs. What came before the fault stays.
     */
    receive: (userId: string, packed: Readable): Promise<ImportReport> =>
      slots.withSlot(() => importArchive(userId, readTar(unpacked(packed, settings.importMaxMb))), userId, underWay),
  }

  async function importArchive(userId: string, members: AsyncIterable<TarMember>): Promise<ImportReport> {
    const report = createReport()
    const target = { userId, idOf: newIdsFor(userId), report }
    const stored = createRecordImport(deps, target)
    const parts = createRunPartsImport(deps, target)
    const files = createFileImport(deps, target)
    /** In the order in which an archive has them: parents first. */
    const kinds: Record<string, (line: string, member: string) => Promise<void> | void> = {
      projects: (line, member) => stored.project(records.recordOf(records.ArchivedProject, line, member)),
      assistants: (line, member) => stored.assistant(records.recordOf(records.ArchivedAssistant, line, member)),
      threads: (line, member) => stored.thread(records.recordOf(records.ArchivedThread, line, member)),
      messages: (line, member) => stored.entry(records.recordOf(records.ArchivedEntry, line, member)),
      runs: (line, member) => stored.run(records.recordOf(records.ArchivedRun, line, member)),
      'tool-calls': (line, member) => parts.toolCall(records.recordOf(records.ArchivedToolCall, line, member)),
      feedback: (line, member) => parts.feedback(records.recordOf(records.ArchivedFeedback, line, member)),
      files: (line, member) => files.announce(records.recordOf(records.ArchivedFile, line, member)),
    }
    const order = Object.keys(kinds)
    let [place, lines, hasManifest] = [0, 0, false]

    for await (const member of members) {
      if (!hasManifest) {
        if (member.name !== 'manifest.json') throw wrongArchive('it does not begin with a manifest')
        for await (const line of linesOf(member, smallMemberMaxBytes)) {
          records.checkManifest(line)
          hasManifest = true
        }
        if (!hasManifest) throw wrongArchive('its manifest is empty')
        continue
      }
      if (files.isAnnounced(member.name)) {
        await files.receive(member)
        continue
      }
      if (member.name === 'user.json') {
        for await (const line of linesOf(member, smallMemberMaxBytes)) void line
        continue
      }
      const kind = /^([a-z-]{1,20})-\d{5,9}\.jsonl$/.exec(member.name)?.[1] ?? ''
      const next = order.indexOf(kind)
      const take = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
      if (take === undefined) throw wrongArchive('it holds a member that is not known here')
      if (next < place) throw wrongArchive('its members are not in order')
      place = next
      for await (const line of linesOf(member, partMaxBytes)) {
        lines += 1
        if (lines > maxRecords) throw wrongArchive(`it has more than ${maxRecords} records`)
        await take(line, `the ${kind}`)
      }
    }
    if (!hasManifest) throw wrongArchive('it is empty')
    files.end()
    return report.report
  }
}

async function* linesOf({ size, content }: TarMember, maxBytes: number): AsyncGenerator<string, undefined> {
  if (size > maxBytes) throw wrongArchive('one of its members is too large')
  const pieces: Buffer[] = []
  for await (const piece of content) pieces.push(piece)
  const text = Buffer.concat(pieces)
  let [start, lines] = [0, 0]
  for (let end = text.indexOf(0x0a); start < text.length; end = text.indexOf(0x0a, start)) {
    const lineEnd = end < 0 ? text.length : end
    if (lineEnd - start > lineMaxBytes) throw wrongArchive('one of its lines is too long')
    const line = text.subarray(start, lineEnd).toString('utf8')
    start = lineEnd + 1
    if (line === '') throw wrongArchive('one of its lines is empty')
    // Lines that are only counted need no database: other requests must get their turn too.
    if (++lines % linesInTurn === 0) await setImmediate()
    yield line
  }
}

function underWay(): AppError {
  const message = 'An archive is being imported into this account already, or too many are.'
  return new AppError('too_many_requests', message, { retryAfterSeconds: 30 })
}
