import { parseExactJson } from './json-text.ts'
import { type FoldedMessage, inOrder } from './run-events.ts'

/** A call of a function of the client, with its arguments as the model wrote them so far. */
export interface ClientCall {
  id: string
  name: string
  args: string
}

/** What is new about a call; `id` and `name` come with its first piece. */
export interface CallAdvance {
  index: number
  first?: { id: string; name: string }
  args: string
}

/** The calls of `names` in one message, in their order. */
export function clientCallsOf({ content }: FoldedMessage, names: ReadonlySet<string>): ClientCall[] {
  return callsOf(content).filter(({ name }) => names.has(name))
}

function callsOf(content: FoldedMessage['content']): ClientCall[] {
  if ('pieces' in content)
    return inOrder(content.pieces.calls)
      .filter(({ name }) => name !== '')
      .map(({ call_id: id, name, args }) => ({ id, name, args }))
  const { whole, argumentTexts } = content
  if (whole.type !== 'AIMessage') return []
  return (whole.data.tool_calls ?? []).map(({ id, name, args }, place) => ({
    id,
    name,
    args: argumentTexts?.[place] || JSON.stringify(args),
  }))
}

/**
 * How much of the calls of a run its reader has received. A message that begins again under its id is skipped until
 * more of it is there than was sent.
 */
export function createCallProgress(names: ReadonlySet<string>) {
  const sent = new Map<string, { index: number; name: string; args: string }>()

  return {
    /** Undefined: the message contradicts what was sent. */
    advance(folded: FoldedMessage): CallAdvance[] | undefined {
      const isWhole = 'whole' in folded.content
      const calls = clientCallsOf(folded, names)
      const advances: CallAdvance[] = []
      for (const [place, { id, name, args }] of calls.entries()) {
        const key = `${folded.id}/${place}`
        const known = sent.get(key)
        if (known === undefined) {
          const index = sent.size
          sent.set(key, { index, name, args })
          advances.push({ index, first: { id, name }, args })
          continue
        }
        if (known.name !== name) return undefined
        if (args.startsWith(known.args)) {
          if (args !== known.args) advances.push({ index: known.index, args: args.slice(known.args.length) })
          known.args = args
        } else if (isWhole ? !isSame(known.args, args) : !known.args.startsWith(args)) return undefined
      }
      const isShorter = sent.has(`${folded.id}/${calls.length}`)
      return isWhole && isShorter ? undefined : advances
    },
  }
}

/** Whether two texts are the same JSON, written in different ways. */
function isSame(sent: string, text: string): boolean {
  try {
    // The model's call was bounded when it was read.
    return JSON.stringify(parseExactJson(sent) ?? {}) === text
  } catch {
    return false
  }
}
