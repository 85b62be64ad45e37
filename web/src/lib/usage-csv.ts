import type { Schemas } from './api.ts'
import { csvOf } from './written-tables.ts'

type Cell = string | number

const header = ['kind', 'name', 'id', 'runs', 'prompt_tokens', 'completion_tokens', 'total_tokens', 'cost', 'currency']

/** Usage by day, assistant and model as a table for spreadsheets (RFC 4180). Numbers and days are not localised. */
export function usageCsv(usage: Schemas['UserUsage'], nameOf: (assistantId: string) => string): string {
  const { currency } = usage
  const counts = (row: Schemas['UserUsage']['models_used'][number] | Schemas['UserUsage']['days'][number]) => [
    row.runs,
    row.prompt_tokens,
    row.completion_tokens,
    row.total_tokens,
    row.cost,
    currency,
  ]
  const rows: Cell[][] = [
    header,
    ...usage.days.map((row) => ['day', row.date, '', ...counts(row)]),
    ...usage.assistants_used.map((row) => [
      'assistant',
      nameOf(row.assistant_id),
      row.assistant_id,
      ...counts({ ...row, model: '' }),
    ]),
    ...usage.models_used.map((row) => ['model', row.model, '', ...counts(row)]),
  ]
  return `${csvOf(rows)}\r\n`
}
