import { createHash } from 'node:crypto'

const longest = 64
const hashLength = 12

/** The name under which the model is offered a tool of a namespace. One that would be too long ends with its hash. */
export function offeredName(name: string, namespace?: string | null): string {
  if (!namespace) return name
  const whole = `${namespace.replaceAll('.', '_')}__${name}`
  if (whole.length <= longest) return whole
  const hash = createHash('sha256').update(whole).digest('hex').slice(0, hashLength)
  return `${whole.slice(0, longest - hashLength - 1)}_${hash}`
}
