/** What an owner expects the search of an assistant's files to find, and what it has found each time that it was tried. */
export interface EvaluationRecord {
  /** The assistant. */
  _id: string
  questions: EvaluationQuestion[]
  /** The newest first. */
  runs: EvaluationRun[]
  updated_at: Date
}

export interface EvaluationQuestion {
  /** Says the same for the same question, file and page, so that runs can be compared. */
  question_id: string
  question: string
  file_name: string
  page?: number
}

export interface EvaluationRun {
  created_at: Date
  embedding_model: string
  /** Ready files at that time. */
  files: number
  /** In which place a right passage was found, from 1; 0: not among those that were looked at. */
  places: { question_id: string; place: number }[]
}

/** A page names a file by 255 characters at most. */
export const evaluationLimits = { questions: 100, questionLength: 500, nameLength: 255, runs: 20 } as const
