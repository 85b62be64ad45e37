import { cutText } from '../domain/cut-text.ts'

/** Maximum number of characters of a tool's answer that the model is shown. */
const maxResultCharacters = 20_000
/** Maximum number of bytes of an answer that are read. */
export const maxResponseBytes = 1024 * 1024

/** Cuts a long answer and says so, so that the model does not take a part for the whole. */
export function limitText(text: string, limit: number = maxResultCharacters): string {
  if (text.length <= limit) return text
  return `${cutText(text, limit)}\n[Cut here: only the first ${limit} of ${text.length} characters are shown.]`
}

/** Whether a tool's answer was cut, by one of the notes that say so to the model. */
export function isCut(text: string): boolean {
  return text.includes('\n[Cut here: ')
}

/**
 * Returns a function that replaces the given header values wherever a text repeats them: servers may echo them, and
 * a tool's answer is read by the model, stored and shown.
 */
export function secretsHider(headers: Record<string, string>): (text: string) => string {
  const values = Object.values(headers).flatMap((value) => [value, value.replace(/^\s*\w+\s+/, '')])
  // Shorter values, such as `1` or `en`, are not secrets, and replacing them would blank half of the text.
  const secrets = [...new Set(values.map((value) => value.trim()).filter((value) => value.length >= 6))]
  const forms = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
  const byLength = [...new Set(forms)].toSorted((a, b) => b.length - a.length)
  return (text) => byLength.reduce((shown, secret) => shown.replaceAll(secret, '[hidden]'), text)
}

/** The beginning of a response's body, at most `maxResponseBytes`; the rest is not fetched. */
export async function readStart(response: Response): Promise<{ bytes: Buffer; whole: boolean }> {
  const chunks: Buffer[] = []
  let size = 0
  if (response.body === null) return { bytes: Buffer.alloc(0), whole: true }
  const body: AsyncIterable<Uint8Array> = response.body
  for await (const chunk of body) {
    chunks.push(Buffer.from(chunk))
    size += chunk.length
    // Leaving the loop cancels the body.
    if (size > maxResponseBytes) return { bytes: Buffer.concat(chunks).subarray(0, maxResponseBytes), whole: false }
  }
  return { bytes: Buffer.concat(chunks), whole: true }
}
