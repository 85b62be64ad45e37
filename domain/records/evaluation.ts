import Type, { type Static } from 'typebox'
import { type RecordOf, StoredId, StoredTime, declareRecord } from './declared-record.ts'

const EvaluationQuestion = Type.Object({
  /** Says the same for the same question, file and page, so that runs can be compared. */
  question_id: StoredId,
  question: Type.String({ minLength: 1 }),
  file_name: Type.String({ minLength: 1 }),
  page: Type.Optional(Type.Number()),
})
export type EvaluationQuestion = Static<typeof EvaluationQuestion>

const EvaluationRun = Type.Object({
  created_at: StoredTime,
  embedding_model: Type.String(),
  /** Ready files at that time. */
  files: Type.Number(),
  /** In which place a right passage was found, from 1; 0: not among those that were looked at. */
  places: Type.Array(Type.Object({ question_id: StoredId, place: Type.Number() })),
})
export type EvaluationRun = Static<typeof EvaluationRun>

/** What an owner expects the search of an assistant's files to find, and what it has found each time that it was tried. */
const Evaluation = Type.Object({
  /** The assistant. */
  _id: StoredId,
  questions: Type.Array(EvaluationQuestion),
  /** The newest first. */
  runs: Type.Array(EvaluationRun),
  updated_at: StoredTime,
})

export const evaluationRecord = declareRecord({
  model: 'Evaluation',
  collection: 'evaluations',
  schema: Evaluation,
  owners: [],
  indexes: [],
  archive: undefined,
})
export type EvaluationRecord = RecordOf<typeof evaluationRecord>

/** A page names a file by 255 characters at most. */
export const evaluationLimits = { questions: 100, questionLength: 500, nameLength: 255, runs: 20 } as const
