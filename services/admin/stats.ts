import { hasOwnBytes } from '../../domain/knowledge/project-files.ts'
import { accessModes } from '../../domain/records/assistant.ts'
import { type RunStatus, runStatuses } from '../../domain/records/run.ts'
import type { Collections } from '../collections.ts'

const recentMs = 30 * 86_400_000
/** The access modes with which others can use an assistant; `public` alone lets them read it. */
const openModes = accessModes.filter((mode) => mode !== 'authenticated')

/** Counts of users, projects, assistants, threads, runs, files and failed deletions. */
export async function systemStats({ users, projects, assistants, threads, runs, files, receipts }: Collections) {
  const since = new Date(Date.now() - recentMs)
  const [
    userTotal,
    unverified,
    active,
    projectTotal,
    assistantTotal,
    openAssistants,
    threadTotal,
    publicThreads,
    statuses,
    fileStats,
    failed,
  ] = await Promise.all([
    users.estimatedDocumentCount(),
    users.countDocuments({ verified: false }),
    users.countDocuments({ last_active_at: { $gte: since } }),
    projects.estimatedDocumentCount(),
    assistantCount(assistants),
    assistants.countDocuments({ $or: [{ public: true }, { access_mode: { $in: openModes } }] }),
    threads.estimatedDocumentCount(),
    threads.countDocuments({ public: true }),
    Promise.all(runStatuses.map(async (status) => [status, await executedRuns(runs, status)] as const)),
    files.aggregate<{ count: number; bytes: number }>([
      { $match: hasOwnBytes },
      { $group: { _id: null, count: { $sum: 1 }, bytes: { $sum: '$size' } } },
    ]),
    receipts.countDocuments({ status: 'failed' }),
  ])
  const [sum] = fileStats
  return {
    users: { total: userTotal, verified: userTotal - unverified, unverified, active_last_30_days: active },
    projects: { total: projectTotal },
    assistants: { total: assistantTotal, public: openAssistants },
    // No thread is archived; the answer keeps its shape.
    threads: { total: threadTotal, public: publicThreads, archived: 0 },
    runs: { total: statuses.reduce((total, [, number]) => total + number, 0), by_status: Object.fromEntries(statuses) },
    files: { total: sum?.count ?? 0, bytes: sum?.bytes ?? 0 },
    deletions: { failed },
  }
}

/** Without vector stores, of which an index knows the number. */
async function assistantCount(assistants: Collections['assistants']): Promise<number> {
  const [all, stores] = await Promise.all([
    assistants.estimatedDocumentCount(),
    assistants.countDocuments({ kind: 'vector_store' }),
  ])
  return Math.max(0, all - stores)
}

/** Both counts are taken from an index; a count of the runs that are not imported would read all of them. */
async function executedRuns(runs: Collections['runs'], status: RunStatus): Promise<number> {
  const [all, imported] = await Promise.all([
    runs.countDocuments({ status }),
    runs.countDocuments({ imported: true, status }),
  ])
  return Math.max(0, all - imported)
}
