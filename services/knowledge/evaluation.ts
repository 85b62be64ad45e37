import { createHash } from 'node:crypto'
import { AppError } from '../../domain/errors.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import { type EvaluationQuestion, type EvaluationRecord, type EvaluationRun } from '../../domain/records/evaluation.ts'
import type { Collections } from '../collections.ts'
import { lockAssistant } from '../parents.ts'
import { evaluationStore } from '../stores/evaluations.ts'
import { fileStore } from '../stores/files.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { createPassages } from './passages.ts'
import type { Passage } from './retrieve.ts'

interface EvaluationDeps {
  collections: Pick<Collections, 'assistants' | 'evaluations' | 'files'>
  transaction: RunInTransaction
  passages: Pick<ReturnType<typeof createPassages>, 'search'>
  /** The embedding model; undefined if none is configured. */
  model: string | undefined
}

type Evaluated = Pick<AssistantRecord, '_id' | 'user_id' | 'embedding_model' | 'vector_generation' | 'reembedding'>
type StoredEvaluation = Pick<EvaluationRecord, 'questions' | 'runs'>
type Expected = Omit<EvaluationQuestion, 'question_id'>

/** How many passages of a question are looked at. */
const inspectedRanks = 10
const questionsAtOnce = 4

/** An owner's own questions with the file and page in which each is answered, and what the search finds for them. */
export function createEvaluation({ collections, transaction, passages, model }: EvaluationDeps) {
  const store = evaluationStore(collections)

  const read = async (assistantId: string): Promise<StoredEvaluation> =>
    (await store.find(assistantId)) ?? { questions: [], runs: [] }

  return {
    read,

    /** Questions that say the same are kept once. Runs before stay, so that what has changed is seen. */
    async replace({ _id, user_id: userId }: Evaluated, expected: Expected[]): Promise<StoredEvaluation> {
      const questions = [...new Map(expected.map(withId).map((one) => [one.question_id, one])).values()]
      await transaction(async (session) => {
        await lockAssistant(collections, { assistantId: _id, userId }, session)
        await store.replaceQuestions(_id, questions, session)
      })
      return read(_id)
    },

    /**
     * Searches for each question as the tool `retrieval` does, and keeps what was found. Throws `bad_request` without
     * questions, `unavailable` if the files cannot be searched.
     */
    async run(assistant: Evaluated, signal: AbortSignal): Promise<EvaluationRun> {
      const { questions } = await read(assistant._id)
      if (questions.length === 0)
        throw new AppError('bad_request', 'This assistant has no questions for an evaluation.')
      const ready = await fileStore(collections).countReady(assistant._id)
      const places: EvaluationRun['places'] = []
      for (let start = 0; start < questions.length; start += questionsAtOnce) {
        const part = questions.slice(start, start + questionsAtOnce).map(async (expected) => ({
          question_id: expected.question_id,
          place: rankOf(expected, await passages.search(assistant, expected.question, inspectedRanks, signal)),
        }))
        for (const found of await Promise.all(part)) places.push(found)
      }
      const run = { created_at: new Date(), embedding_model: model ?? '', files: ready, places }
      await store.addRun(assistant._id, run)
      return run
    },
  }
}

function withId({ question, file_name: name, page }: Expected): EvaluationQuestion {
  const expected = { question: question.trim(), file_name: name.normalize('NFC') }
  const key = JSON.stringify([expected.question, expected.file_name, page ?? null])
  const id = createHash('sha256').update(key).digest('base64url').slice(0, 16)
  return { question_id: id, ...expected, ...(page === undefined ? {} : { page }) }
}

/** The place of the first passage of the file, and of the page if one is expected; 0 if there is none. */
function rankOf({ file_name: name, page }: Expected, found: Passage[]): number {
  return (
    found.findIndex(
      (passage) =>
        [passage.file_name, ...(passage.copies ?? [])].includes(name) && (page === undefined || isOn(passage, page)),
    ) + 1
  )
}

function isOn({ page: first, last_page: last = first }: Passage, page: number): boolean {
  return first !== undefined && last !== undefined && first <= page && page <= last
}

/** Shares of the questions with a right passage in the first place, and among five and ten. */
export function sharesOf({ places }: Pick<EvaluationRun, 'places'>): { first: number; five: number; ten: number } {
  const within = (most: number) => {
    const right = places.filter(({ place }) => place > 0 && place <= most).length
    return places.length === 0 ? 0 : Math.round((right / places.length) * 1000) / 1000
  }
  return { first: within(1), five: within(5), ten: within(10) }
}
