const levelNames = new Map([
  [40, 'warning'],
  [50, 'error'],
  [60, 'fatal'],
])

/**
 * One readable line for a JSON log line (pino's members) of level warning or above; undefined for lower levels.
 * Lines that are not JSON, such as the stack of a crash, are returned unchanged.
 */
export function readableLine(process: string, line: string): string | undefined {
  const entry = parse(line)
  if (!entry) return line.trim() ? `[${process}] ${line}` : undefined
  const level = typeof entry.level === 'number' ? levelNames.get(entry.level) : undefined
  if (!level) return undefined
  const error = entry.err
  const cause = isRecord(error) && typeof error.message === 'string' ? error.message : ''
  const parts = [text(entry.msg), cause].filter((part, index, all) => part && all.indexOf(part) === index)
  const place = [text(entry.operation), text(entry.request_id ?? entry.reqId)].filter(Boolean).join(' ')
  return `[${process}] ${level}: ${oneLine(parts.join(': '))}${place ? ` (${place})` : ''}`
}

const text = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : '')
const oneLine = (value: string) => value.replaceAll(/\s+/g, ' ').slice(0, 400)

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
