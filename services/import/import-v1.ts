import type { ReadRecords } from '../../domain/archive/items.ts'
import type { NewIds } from '../../domain/archive/new-ids.ts'
import type { ArchivedResponse } from '../../domain/archive/records.ts'
import { objectFromJsonText, parseOwnJson } from '../../domain/json.ts'
import type { Metadata } from '../../domain/metadata.ts'
import type { CompletionFacts, RunRecord } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { ResponseFacts } from '../../domain/responses/facts.ts'
import { responseId, runIdOf, withEntryId } from '../../domain/responses/ids.ts'
import type { SecretBox } from '../secrets.ts'
import { createSealedItems } from '../v1/responses/sealed-items.ts'
import { tagsOf } from '../v1/stored-completions.ts'

export interface ImportV1Deps {
  secretBox: Pick<SecretBox, 'seal' | 'open'>
}

type Run = ReadRecords['runs']
type Archived = Pick<ReadRecords['threads'], 'kind' | 'public' | 'counted' | 'asked_from'>

/** Whether it is the thread of a stored completion or a response, whose bytes count in place of a thread. */
export const isUncounted = ({ kind, public: isPublic, counted, asked_from: parentThreads }: Archived): boolean =>
  counted === false && !isPublic && kind === undefined && parentThreads === undefined

/** Whether what it holds is shown as items, whose ids name the runs and entries that they belong to. */
export const containsItems = ({ kind, counted }: Pick<ThreadRecord, 'kind' | 'counted'>): boolean =>
  kind === 'conversation' || counted === false

/** What makes an imported run a stored completion or a response again. */
export function createV1Import({ secretBox }: ImportV1Deps, idOf: NewIds) {
  const { sealSummary } = createSealedItems(secretBox)
  const newRunId = (id: string) => idOf('run', id)

  function completionOf({ completion, metadata_json: metadataJson }: Run): CompletionFacts | undefined {
    if (completion === undefined) return undefined
    const { others, ...facts } = completion
    const metadata = metadataJson === undefined ? {} : objectFromJsonText(metadataJson)
    return {
      ...facts,
      ...(facts.stored ? { tags: tagsOf(metadata as Metadata) } : {}),
      ...(others === undefined
        ? {}
        : {
            others: others.map(({ run_id, thread_id }) => ({
              run_id: newRunId(run_id),
              thread_id: idOf('thread', thread_id),
            })),
          }),
    }
  }

  function responseOf(text: string, { project_id: projectId }: ThreadRecord): ResponseFacts {
    const { summary, found, listed, ...facts } = parseOwnJson<ArchivedResponse>(text)
    const { previous_response_id: previous, conversation_id, continued_by, container, approved } = facts
    const previousRun = previous === undefined ? undefined : runIdOf(previous)
    return {
      ...(facts as ResponseFacts),
      ...(previousRun === undefined ? {} : { previous_response_id: responseId(newRunId(previousRun)) }),
      ...(conversation_id === undefined ? {} : { conversation_id: idOf('thread', conversation_id) }),
      ...(continued_by === undefined ? {} : { continued_by: newRunId(continued_by) }),
      ...(container === undefined ? {} : { container: idOf('thread', container) }),
      ...(approved === undefined
        ? {}
        : { approved: approved.map(([call, item]): [string, string] => [call, withEntryId(item, newRunId)]) }),
      ...(summary === undefined ? {} : { compaction: sealSummary(projectId, summary) }),
      ...(found === undefined ? {} : { found_json: JSON.stringify(found) }),
      ...(listed === undefined ? {} : { listed: listed as NonNullable<ResponseFacts['listed']> }),
    }
  }

  return (run: Run, thread: ThreadRecord): Pick<RunRecord, 'completion' | 'response_json' | 'response_removed'> => {
    const completion = completionOf(run)
    const { response_json: text } = run
    // An id of a conversation leads to the thread of the run, and to no other.
    const response = text === undefined || !containsItems(thread) ? undefined : responseOf(text, thread)
    return {
      ...(completion === undefined ? {} : { completion }),
      ...(response === undefined ? {} : { response_json: JSON.stringify(response) }),
      ...(run.response_removed ? { response_removed: true } : {}),
    }
  }
}
