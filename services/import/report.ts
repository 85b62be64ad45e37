import { cutText } from '../../domain/cut-text.ts'
import { AppError } from '../../domain/errors.ts'

const reportedKinds = [
  'projects',
  'vector_stores',
  'assistants',
  'threads',
  'messages',
  'runs',
  'tool_calls',
  'feedback',
  'schedules',
  'sources',
  'evaluations',
  'prompts',
  'memories',
  'documents',
  'folders',
  'attachments',
  'files',
  'vector_store_files',
] as const
type ReportedKind = (typeof reportedKinds)[number]

type Counts = Record<ReportedKind, number>

export interface ImportReport {
  imported: Counts
  /** Imported before. */
  existing: Counts
  refused: Counts
  /** Why records were refused: the first hundred. */
  problems: { kind: ReportedKind; id: string; reason: string }[]
  /** Places in configurations whose secrets the archive does not hold. */
  missing_secrets: { assistant_id: string; name: string; members: string[] }[]
  /** Assistants that were public where the archive was made. An import publishes nothing. */
  unpublished: string[]
}

const problemsListed = 100
const assistantsListed = 1000

const none = (): Counts => Object.fromEntries(reportedKinds.map((kind) => [kind, 0])) as Counts

export type ReportWriter = ReturnType<typeof createReport>

export function createReport() {
  const report: ImportReport = {
    imported: none(),
    existing: none(),
    refused: none(),
    problems: [],
    missing_secrets: [],
    unpublished: [],
  }
  return {
    report,
    count(outcome: 'imported' | 'existing', kind: ReportedKind, amount = 1): void {
      report[outcome][kind] += amount
    },
    /** `id` as the archive has it. */
    refuse(kind: ReportedKind, id: string, reason: AppError | string): void {
      report.refused[kind] += 1
      if (report.problems.length >= problemsListed) return
      const message = typeof reason === 'string' ? reason : reason.message
      report.problems.push({ kind, id, reason: cutText(message, 500) })
    },
    missSecrets(assistantId: string, name: string, members: string[]): void {
      if (members.length > 0 && report.missing_secrets.length < assistantsListed)
        report.missing_secrets.push({ assistant_id: assistantId, name, members })
    },
    unpublish(assistantId: string): void {
      if (report.unpublished.length < assistantsListed) report.unpublished.push(assistantId)
    },
  }
}

/**
 * Counts what `store` did, unless it will be settled later (`held`). A refusal by a rule of the service is reported;
 * other errors are thrown.
 */
export async function recordOutcome(
  report: ReportWriter,
  kind: ReportedKind,
  oldId: string,
  store: () => Promise<'imported' | 'existing' | 'deferred'>,
): Promise<void> {
  try {
    const outcome = await store()
    if (outcome !== 'deferred') report.count(outcome, kind)
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error
    report.refuse(kind, oldId, error)
  }
}
