import { spaceOwner } from '../../domain/knowledge/vector-space.ts'
import { retainedCollections } from '../../services/deletion/stores.ts'
import { type Intention, type Problem, problemOf } from '../client-log.ts'
import { emailOf } from '../email-of.ts'
import { checkCounters } from './counters.ts'
import { idsIn } from './digest.ts'
import type { Evidence, Records, Report } from './evidence.ts'
import { checkFiles } from './files.ts'
import { checkRuns } from './runs.ts'
import type { StoredRecord } from './stores.ts'

/** Checks each intention of the clients, each record and each effect. Returns the problems. */
export async function check(evidence: Evidence): Promise<Problem[]> {
  const problems: Problem[] = []
  const report: Report = (kind, what, intention) =>
    void problems.push(
      intention === undefined
        ? { kind, what, from: 0, until: Date.now() }
        : problemOf(kind, intention, what, intention.endedAt ?? Date.now()),
    )
  const records = await evidence.stores.records()
  for (const what of evidence.unfinished) report('wrong', `is still under way: ${what}`)
  checkCreations(evidence, records, report)
  checkRuns(evidence, records, report)
  await checkFiles(evidence, records, report)
  await checkDeletions(evidence, records, report)
  checkCounters(records, report)
  checkMails(evidence, report)
  return problems
}

/** Records that came from an intention, by its kind. */
const createdBy: Record<string, { collection: string; is: (record: StoredRecord, id: string) => boolean }> = {
  account: { collection: 'users', is: (user, id) => user['email'] === emailOf(id) },
  project: { collection: 'projects', is: (project, id) => project['name'] === id },
  assistant: { collection: 'assistants', is: (assistant, id) => assistant['name'] === id },
  thread: { collection: 'threads', is: (thread, id) => thread['name'] === id },
  message: { collection: 'checkpoints', is: (entry, id) => String(entry['messages_json']).includes(`Noted as ${id}`) },
  upload: {
    collection: 'files',
    is: (file, id) => String(file['name']).startsWith(`${id}-`) && file['status'] !== 'uploading',
  },
}

/** Acknowledged records exist exactly once, others at most once. */
function checkCreations({ log }: Evidence, records: Records, report: Report): void {
  for (const intention of log.intentions.values()) {
    const created = createdBy[intention.kind]
    if (created === undefined) continue
    const found = (records.get(created.collection) ?? []).filter((record) => created.is(record, intention.id))
    const { acknowledged, withdrawn } = intention
    if (found.length > 1) report('doubled', `${found.length} records in ${created.collection}`, intention)
    if (acknowledged === undefined || withdrawn) continue
    if (found.length === 0) report('lost', `not in ${created.collection}`, intention)
    const id = acknowledged['id']
    if (id !== undefined && found.length === 1 && String(found[0]?.['_id']) !== id)
      report('doubled', `acknowledged as ${id}, stored as ${String(found[0]?.['_id'])}`, intention)
  }
}

/** Deleted data is in no store, except in those that deletions keep on purpose. */
async function checkDeletions({ log, stores }: Evidence, records: Records, report: Report): Promise<void> {
  const deletedBy = new Map<string, Intention>()
  for (const intention of log.intentions.values()) {
    if (intention.acknowledged === undefined) continue
    if (intention.kind === 'deletion')
      for (const id of (intention.facts['ids'] ?? '').split(' ')) deletedBy.set(id, intention)
    else if (intention.withdrawn && intention.kind !== 'account')
      deletedBy.set(intention.acknowledged['id'] ?? '', intention)
  }
  // Copies of a file use what is stored under its id.
  for (const { content_id: shared } of records.get('files') ?? []) deletedBy.delete(String(shared))
  for (const [name, all] of records) {
    if (name in retainedCollections) continue
    for (const record of all)
      // The audit log names deleted records until the account itself is deleted.
      for (const id of name === 'audit_entries' ? [String(record['user_id'])] : idsIn(record)) {
        const deletion = deletedBy.get(id)
        if (deletion !== undefined)
          report('wrong', `${name} ${String(record['_id'])} still names ${id}, which was deleted`, deletion)
      }
  }
  for (const key of await stores.redisKeys())
    for (const id of idsIn(key)) {
      const deletion = deletedBy.get(id)
      if (deletion !== undefined) report('wrong', `Redis still holds ${key}`, deletion)
    }
  for (const space of await stores.vectors.listSpaces()) {
    const deletion = deletedBy.get(spaceOwner(space).assistantId)
    if (deletion !== undefined && (await stores.vectors.count(space)) > 0)
      report('wrong', `vectors of ${space} are left`, deletion)
    for (const fileId of await stores.vectors.listFiles(space)) {
      const ofFile = deletedBy.get(fileId)
      if (ofFile !== undefined) report('wrong', `vectors of the file ${fileId} are left`, ofFile)
    }
  }
  for (const receipt of records.get('receipts') ?? [])
    if (receipt['status'] !== 'complete')
      report('wrong', `the deletion ${String(receipt['_id'])} is ${String(receipt['status'])}`)
}

/** One mail of each kind for each sign-up. Copies have the same `Message-ID`, by which receivers drop them. */
function checkMails({ mails, log }: Evidence, report: Report): void {
  const headerOf = (mail: string, name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(mail)?.[1]
  for (const intention of log.intentions.values()) {
    if (intention.kind !== 'account') continue
    const received = mails.filter((mail) => mail.includes(`To: ${emailOf(intention.id)}`))
    for (const [subject, ofKind] of Map.groupBy(received, (mail) => headerOf(mail, 'Subject'))) {
      const ids = new Set(ofKind.map((mail) => headerOf(mail, 'Message-ID')))
      if (ids.size > 1) report('doubled', `${ids.size} different mails “${subject}”`, intention)
    }
  }
}
