import type { Message } from '../messages.ts'
import { rawPassagesIn } from './citations.ts'

const maxPassages = 10
/** Characters of all passages together. */
const maxCharacters = 20_000

/**
 * The passages that an assistant found and names in its answer, for the assistant that asked it: that one can cite them,
 * and its readers see them. Each says whose files it is from.
 */
export function passagesFor(answer: string, messages: Message[], assistantId: string): object[] {
  const passed: object[] = []
  const seen = new Set<string>()
  let room = maxCharacters
  for (const passage of rawPassagesIn(messages)) {
    const name: unknown = Reflect.get(passage, 'file_name')
    if (typeof name !== 'string' || name === '' || !answer.includes(name)) continue
    const whose = { assistant_id: assistantId, ...passage }
    const text = JSON.stringify(whose)
    if (seen.has(text) || text.length > room || passed.length === maxPassages) continue
    seen.add(text)
    room -= text.length
    passed.push(whose)
  }
  return passed
}
