import { addAll } from '../../domain/add-all.ts'
import type { OwnedTarget } from '../../domain/contracts/deletion.ts'
import type { Collections } from '../collections.ts'
import { type SweepDeps, deleteKnowledgeOrphans, findKnowledgeOrphans } from '../knowledge/sweep.ts'
import { declaredCollections } from '../owned-data/declared-stores.ts'
import { eraseAll } from '../owned-data/erase-all.ts'
import type { RunInTransaction } from '../transactions.ts'
import { openProjectsOfAny, operatedUserStore } from './store.ts'

interface OrphansDeps {
  collections: Collections
  transaction: RunInTransaction
  knowledge: Pick<SweepDeps, 'blobs' | 'vectors'>
}

const batchSize = 500
const targetLimit = 500
/** When a token creates a user, the project is stored before the user; therefore younger projects are skipped. */
const youngMs = 60 * 60_000

export type Orphans = ReturnType<typeof createOrphans>

/** Finds and removes records whose owner is gone. Processes that die between two writes leave such records. */
export function createOrphans({ collections, transaction, knowledge }: OrphansDeps) {
  const { users, projects, assistants, threads, sources } = collections
  const members: { kind: 'assistant' | 'thread'; owned: Owned }[] = [
    { kind: 'assistant', owned: assistants },
    { kind: 'thread', owned: threads },
  ]
  const parents = { users, projects, assistants, threads, sources }
  const declared = declaredCollections(collections)
  const sweep = { collections, ...knowledge }

  /** Conditions of the records of a declared kind of which an owner is gone. */
  async function* orphaned({ records, owners, orphanedBy }: (typeof declared)[number]): AsyncGenerator<object> {
    for (const [field, name] of Object.entries(orphanedBy ?? ownersBy))
      if (orphanedBy !== undefined || owners.some((owner) => owner === field))
        for (const ids of batches(await missingParents(records, field, parents[name]))) yield { [field]: { $in: ids } }
  }

  return {
    /**
     * Targets for deletion workflows: owners whose own owner is gone, and deletions that were begun and not
     * finished. At most 500; the next sweep takes the rest.
     */
    async targets(): Promise<OwnedTarget[]> {
      const found: OwnedTarget[] = []
      const closed = { deleting: true } as const
      const accounts = operatedUserStore({ users })
      for (const id of await accounts.idsOfAny(closed, targetLimit)) found.push({ kind: 'account', id, userId: id })
      const closedUsers = new Set(found.map((target) => target.id))
      const isYoung = (createdAt: Date) => createdAt.getTime() > Date.now() - youngMs

      for await (const project of openProjectsOfAny({ projects })) {
        if (found.length >= targetLimit) return found
        if (closedUsers.has(project.user_id)) continue
        const ownerless = !isYoung(project.created_at) && !(await accounts.existsOfAny(project.user_id))
        if (project.deleting || ownerless) found.push({ kind: 'project', id: project._id, userId: project.user_id })
      }
      const covered = new Set(found.map((target) => target.id))
      for (const { kind, owned } of members) {
        for (const projectId of await missingParents(owned, 'project_id', projects)) {
          const orphaned = await owned.find({ project_id: projectId }, ownership).limit(targetLimit).lean()
          addAll(
            found,
            orphaned.map((record) => targetOf(kind, record)),
          )
        }
        for (const record of await owned.find(closed, ownership).limit(targetLimit).lean()) {
          if (covered.has(record.project_id) || closedUsers.has(record.user_id)) continue
          found.push(targetOf(kind, record))
        }
      }
      const distinct = new Map(found.map((target) => [`${target.kind}/${target.id}`, target]))
      return [...distinct.values()].slice(0, targetLimit)
    },

    /** Counts orphans by store. Changes nothing. */
    async count(): Promise<Record<string, number>> {
      const counts: Record<string, number> = {}
      // One that lacks several of its owners counts for each.
      for (const kind of declared) {
        let found = 0
        for await (const filter of orphaned(kind)) found += await kind.records.countDocuments(filter)
        counts[kind.collection] = found
      }
      const { files, chunks, blobs, vectors } = await findKnowledgeOrphans(sweep)
      return {
        ...counts,
        files: files.length,
        files_with_chunks: chunks.length,
        blobs: blobs.length,
        vector_spaces: vectors.length,
      }
    },

    /** Removes orphans. Safe to repeat. */
    async remove(): Promise<void> {
      for (const kind of declared)
        for await (const filter of orphaned(kind)) await eraseAll(transaction, kind.records, filter)
      await deleteKnowledgeOrphans(sweep, await findKnowledgeOrphans(sweep))
    },
  }
}

const ownersBy = { user_id: 'users', project_id: 'projects', assistant_id: 'assistants', thread_id: 'threads' } as const

const ownership = { user_id: 1, project_id: 1, kind: 1 } as const

interface Ownership {
  _id: string
  user_id: string
  project_id: string
  kind?: 'vector_store' | 'gateway'
}

function targetOf(kind: 'assistant' | 'thread', record: Ownership): OwnedTarget {
  return {
    kind: record.kind === 'vector_store' ? record.kind : kind,
    id: record._id,
    userId: record.user_id,
    projectId: record.project_id,
  }
}

/** The parts of collections that are used here. */
interface Owned extends Referring {
  find(
    filter: { project_id: string } | { deleting: true },
    projection: typeof ownership,
  ): { limit(count: number): { lean(): PromiseLike<Ownership[]> } }
}
interface Referring {
  aggregate(pipeline: [{ $group: { _id: string } }]): { cursor(): AsyncIterable<unknown> }
}
interface Referred {
  find(filter: { _id: { $in: string[] } }, projection: { _id: 1 }): { lean(): PromiseLike<{ _id: string }[]> }
}

/** Parent ids that records refer to and that do not exist. */
async function missingParents(children: Referring, field: string, parents: Referred): Promise<string[]> {
  const missing: string[] = []
  const check = async (ids: string[]) => {
    const there = new Set((await parents.find({ _id: { $in: ids } }, { _id: 1 }).lean()).map((parent) => parent._id))
    addAll(
      missing,
      ids.filter((id) => !there.has(id)),
    )
  }
  let batch: string[] = []
  for await (const group of children.aggregate([{ $group: { _id: `$${field}` } }]).cursor()) {
    if (typeof group !== 'object' || group === null || !('_id' in group) || typeof group._id !== 'string') continue
    batch.push(group._id)
    if (batch.length < batchSize) continue
    await check(batch)
    batch = []
  }
  await check(batch)
  return missing
}

function batches(ids: string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / batchSize) }, (_, index) =>
    ids.slice(index * batchSize, (index + 1) * batchSize),
  )
}
