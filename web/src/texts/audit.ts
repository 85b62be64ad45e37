import type english from './en/audit.json'
import { loadTexts } from './load.ts'

/** The texts of the audit log in the language of the page. */
export const auditMessages = await loadTexts(
  import.meta.glob<typeof english>('./*/audit.json', { import: 'default' }),
  {
    nameless: ['amount'],
    times: ['amount'],
    didAction: ['action'],
    browserOn: ['browser', 'system'],
  },
)
