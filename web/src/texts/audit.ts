import { inLanguage } from '../lib/language.ts'
import type { enAudit } from './en-audit.ts'

/** The texts of the audit log in the language of the page. */
export const auditTexts: typeof enAudit = await inLanguage<typeof enAudit>({
  en: async () => (await import('./en-audit.ts')).enAudit,
  de: async () => (await import('./de-audit.ts')).deAudit,
})
