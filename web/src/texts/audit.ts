import { enAudit } from './en-audit.ts'

/** The texts of the audit log in the language of the page. */
export const auditTexts: typeof enAudit = enAudit
