import { maxCallIndex } from '../../domain/messages.ts'
import { invalid } from './foreign-values.ts'

/** A piece of a call as a server sent it. */
export interface CallPiece {
  /** The server's number of the call. Some send none, and some send 0 for each. */
  index: number | undefined
  id: string | undefined
  name: string | undefined
  args: string
}

/** The same piece under the number of its call. */
export interface PlacedPiece {
  index: number
  id?: string
  name?: string
  args?: string
}

interface Call {
  slot: number
  id: string | undefined
  name: string
  hasArgs: boolean
  end: ReturnType<typeof createObjectEnd>
}

/**
 * Gives the calls of one answer numbers in the order in which they begin, whatever the server calls them. A piece
 * begins another call when it cannot continue the last one of its number: it has another id and a name, or the arguments
 * are complete.
 */
export function createCallSlots() {
  const calls: Call[] = []
  const ids = new Set<string>()
  /** By the server's number. */
  const newest = new Map<number, Call>()

  function begin(name: string): Call {
    if (calls.length > maxCallIndex) throw invalid(`tool_calls must not be more than ${maxCallIndex + 1} calls`)
    const call = { slot: calls.length, id: undefined, name, hasArgs: false, end: createObjectEnd() }
    calls.push(call)
    return call
  }

  /** The call that a piece continues; undefined if it begins another one. */
  function continued({ index, id, name, args }: CallPiece, isFirstOfChunk: boolean): Call | undefined {
    const withId = id === undefined ? undefined : calls.findLast((call) => call.id === id)
    const last = index === undefined ? (withId ?? calls.at(-1)) : newest.get(index)
    if (last === undefined) return undefined
    if (index === undefined && !isFirstOfChunk && withId === undefined) return undefined
    const isOther = id !== undefined && last.id !== undefined && id !== last.id
    const isNamed = name !== undefined && name !== ''
    if (isOther && isNamed && (last.end.isComplete || !last.hasArgs) && !(last.name === name && !last.hasArgs && args))
      return undefined
    if (index !== undefined) return last
    // Without numbers, what follows whole arguments belongs to the next call.
    if (isOther && isNamed) return undefined
    return last.end.isComplete && (isNamed || args !== '') ? undefined : last
  }

  function place(call: Call, { id, name, args }: Omit<CallPiece, 'index'>): PlacedPiece {
    // Two calls with one id could not be told apart: the second one gets an id of ours.
    const isNewId = id !== undefined && call.id === undefined && !ids.has(id)
    if (id !== undefined && call.id === undefined) call.id = id
    if (isNewId) ids.add(id)
    const isNewName = name !== undefined && name !== '' && (name !== call.name || !call.hasArgs)
    if (isNewName) call.name = name
    call.hasArgs ||= args !== ''
    return {
      index: call.slot,
      ...(isNewId ? { id } : {}),
      ...(isNewName ? { name } : {}),
      ...(args === '' ? {} : { args }),
    }
  }

  return {
    /** `isFirstOfChunk`: without numbers, each further piece of one chunk is a call of its own. */
    add(piece: CallPiece, isFirstOfChunk: boolean): PlacedPiece[] {
      let call = continued(piece, isFirstOfChunk) ?? begin(piece.name ?? '')
      if (piece.index !== undefined) newest.set(piece.index, call)
      const placed: PlacedPiece[] = []
      let { id, args } = piece
      // Some servers join the arguments of all calls: `{"a": 1}{"a": 2}`.
      for (;;) {
        const cut = call.end.feed(args)
        placed.push(place(call, { id, name: piece.name ?? call.name, args: args.slice(0, cut) }))
        if (cut === undefined) return placed
        call = begin(call.name)
        if (piece.index !== undefined) newest.set(piece.index, call)
        id = undefined
        args = args.slice(cut)
      }
    },
  }
}

/** Follows a JSON object that arrives in pieces, to its end. */
function createObjectEnd() {
  let depth = 0
  let isInString = false
  let isEscaped = false
  let isComplete = false
  return {
    get isComplete() {
      return isComplete
    },
    /** Where in this piece another object begins after the end of the first one. */
    feed(text: string): number | undefined {
      for (let at = 0; at < text.length; at++) {
        const code = text.charCodeAt(at)
        if (isInString) {
          if (isEscaped) isEscaped = false
          else if (code === 0x5c) isEscaped = true
          else if (code === 0x22) isInString = false
        } else if (isComplete) {
          if (code === 0x7b) return at
        } else if (code === 0x22) isInString = true
        else if (code === 0x7b || code === 0x5b) depth += 1
        else if (code === 0x7d || code === 0x5d) {
          depth -= 1
          isComplete = depth === 0
        }
      }
      return undefined
    },
  }
}
