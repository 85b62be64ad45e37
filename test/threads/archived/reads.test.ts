// Before a change: docs/traps.md, What else changes with a change.
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

/**
 * Reads of entries that give texts of the log without bringing archived threads back. A new read belongs into
 * `archivedThreads.whole(…)`, unless it can meet only entries that are not archived: name it here with the reason.
 */
const readAsStored: Record<string, string[]> = {
  'moves or restores texts itself': [
    'services/threads/archived/text-records.ts',
    'services/threads/archived/text-records.ts',
    'services/threads/log-scan.ts',
  ],
  'gives its entries to a reader of archived texts': [
    'services/export/read-records.ts',
    'services/threads/find-messages.ts',
  ],
  'reads a run that is not settled, whose thread is not archived': [
    'services/budgets/usage.ts',
    'services/runs/decisions.ts',
    'services/runs/earlier-attempt.ts',
  ],
  'has brought the thread back, and changes it': [
    'services/threads/erase-what-was-said.ts',
    'services/threads/erase-what-was-said.ts',
  ],
  'reads system messages, which are not archived': ['services/threads/conversations.ts'],
  'reads an entry that was stored a moment ago': ['services/threads/log.ts', 'services/threads/log.ts'],
}

const root = path.dirname(path.dirname(path.dirname(import.meta.dirname)))
const folders = '{activities,api,composition,domain,infra,services,worker}'
const reads = /(?<![\w/'])checkpoints\s*\.\s*(?:find|findOne|findById|aggregate)\s*(?:<[^(]*>)?\(/g
/** What is projected, where it is without texts. */
const withoutTexts = [/\}, \{ (?:seq|thread_id): 1 \}\)/, /\{ thread_id: 1, search: 1 \},/]

test('each read of the log brings archived threads back, or says why it need not', () => {
  const found: string[] = []
  let all = 0
  for (const file of globSync(`${folders}/**/*.ts`, { cwd: root })) {
    const text = readFileSync(path.join(root, file), 'utf8')
    for (const { index } of text.matchAll(reads)) {
      all += 1
      const before = text.slice(0, index).trimEnd()
      const statement = text.slice(index, text.indexOf('.lean', index))
      const isWhole = /whole\(\(\) =>\s*(?:collections\.)?$/.test(before)
      if (!isWhole && !withoutTexts.some((projection) => projection.test(statement))) found.push(file)
    }
  }
  expect(all).toBeGreaterThan(20)
  expect(found.toSorted()).toEqual(Object.values(readAsStored).flat().toSorted())
})

/** Files that name the input of runs, or the arguments of calls, without schedules, which have inputs of their own. */
const namesInputs: Record<string, string[]> = {
  'moves or restores texts itself': ['services/threads/archived/text-records.ts'],
  'reads by `whole`, or after `keepOpen`': [
    'services/threads/erase-what-was-said.ts',
    'services/v1/responses/index.ts',
    'services/v1/stored-completions.ts',
  ],
  'is given them by a reader of archived texts': ['services/export/archived.ts'],
  'reads a run that is not settled, whose thread is not archived': [
    'api/routes/runs/schemas.ts',
    'api/routes/v1/run-shapes.ts',
    'services/memory/memory-tool.ts',
    'services/runs/decisions.ts',
    'services/runs/model-step.ts',
    'services/runs/settle.ts',
    'services/runs/tool-step.ts',
    'services/threads/pending-input.ts',
  ],
  'writes them, or leaves them out': [
    'services/import/import-records.ts',
    'services/import/import-run-parts.ts',
    'services/import/imported-run.ts',
    'services/retention/index.ts',
    'services/runs/index.ts',
    'services/runs/ledger.ts',
    'services/runs/live-runs.ts',
    'services/runs/prepare-run.ts',
  ],
}

test('each read of the input of a run or of a call does too', () => {
  const found = globSync('{activities,api,composition,services,worker}/**/*.ts', { cwd: root })
    .filter((file) => !/schedule/.test(file))
    .filter((file) => /\b(?:input_json|args_json)\b/.test(readFileSync(path.join(root, file), 'utf8')))
  expect(found.toSorted()).toEqual(Object.values(namesInputs).flat().toSorted())
})
