import type { RunRecord } from '../../../domain/records/run.ts'
import type { ResponseFacts } from '../../../domain/responses/facts.ts'

/** A run that is a response. */
export interface ResponseRun {
  run: RunRecord
  facts: ResponseFacts
}
