import type { ClientSession } from 'mongoose'
import { type EvaluationRecord, type EvaluationRun, evaluationLimits } from '../../domain/records/evaluation.ts'
import type { Collections } from '../collections.ts'
import { isNew } from '../duplicate-key.ts'

/** All statements on `evaluations`. The id is that of the assistant, which was found as its owner's. */
export const evaluationStore = ({ evaluations }: Pick<Collections, 'evaluations'>) => ({
  find: async (assistantId: string) => evaluations.findOne({ _id: assistantId }).lean<EvaluationRecord>(),

  /** False if there is one. */
  add: (record: EvaluationRecord) => isNew(evaluations.create([record])),

  remove: async (assistantId: string) => evaluations.deleteOne({ _id: assistantId }),

  /** Runs before stay. */
  replaceQuestions: async (assistantId: string, questions: EvaluationRecord['questions'], session: ClientSession) =>
    evaluations.updateOne(
      { _id: assistantId },
      { $set: { questions, updated_at: new Date() }, $setOnInsert: { runs: [] } },
      { session, upsert: true },
    ),

  /** The newest come first; old ones go. */
  addRun: async (assistantId: string, run: EvaluationRun) =>
    evaluations.updateOne(
      { _id: assistantId },
      { $push: { runs: { $each: [run], $position: 0, $slice: evaluationLimits.runs } } },
    ),
})
