/** What is shown of a mail, whatever program wrote it. */
export interface Mail {
  subject: string
  /** `From: …`, one line each. */
  facts: string[]
  text: string
  html: string
  attachments: { name: string; content: Buffer }[]
}

export const maxAttachments = 500
export const maxAddresses = 100

export const nameOf = (given: string | undefined, index: number, kind: string): string => {
  const name = oneLine(given).normalize('NFC')
  if (name !== '') return name
  return `attachment ${index + 1}${kind === 'message/rfc822' ? '.eml' : ''}`
}

export const factsOf = (facts: [name: string, value: string][]): string[] =>
  facts.filter(([, value]) => value !== '').map(([name, value]) => `${name}: ${value}`)

export const oneLine = (text: string | undefined): string => (text ?? '').replace(/\s+/g, ' ').trim().slice(0, 1000)
