import type { ReadRecords } from '../../domain/archive/items.ts'
import type { Collections } from '../collections.ts'
import { parentsRemain } from '../parents.ts'
import type { Import } from './import.ts'
import { refused } from '../capability.ts'
import { settle } from './report.ts'
import { assistantStore } from '../stores/assistants.ts'
import { evaluationStore } from '../stores/evaluations.ts'

export interface ImportEvaluationsDeps {
  collections: Pick<Collections, 'users' | 'assistants' | 'evaluations' | 'projects'>
}

/** Questions of owners and what was found for them. An assistant that has some already keeps its own. */
export function createEvaluationImport({ collections }: ImportEvaluationsDeps, { userId, idOf, report }: Import) {
  const evaluations = evaluationStore(collections)
  return (archived: ReadRecords['evaluations']) =>
    settle(report, 'evaluations', archived.assistant_id, async () => {
      const id = idOf('assistant', archived.assistant_id)
      const assistant = await assistantStore(collections).findOwned(userId, id)
      if (assistant === null || assistant.deleting) throw refused('its assistant was not imported')
      const runs = archived.runs.map((run) => ({ ...run, created_at: new Date(run.created_at) }))
      const record = { _id: id, questions: archived.questions, runs, updated_at: new Date() }
      if (!(await evaluations.add(record))) return 'existing'
      if (await parentsRemain(collections, { project_id: assistant.project_id, assistant_id: id })) return 'imported'
      await evaluations.remove(id)
      throw refused('its assistant is being deleted')
    })
}
