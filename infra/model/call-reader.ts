import { maxCallIndex } from '../../domain/messages.ts'
import type { AnswerDelta } from '../../services/runs/chat-model.ts'
import { type createCollectedMembers, maxArgumentsBytes, maxIdLength, maxNameLength } from './answer-members.ts'
import { integerAt, invalid, objectAt, stringAt, tooLong } from './foreign-values.ts'

/** Servers may number calls as they like; which number a call gets here is decided by `createCallSlots`. */
const maxCallNumber = 127

/** Reads the calls of an answer. `count` counts the bytes of a text and limits those of all. */
export function createCallReader({
  count,
  collected,
  toolNames,
}: {
  toolNames: ReadonlySet<string>
  count(text: string): number
  collected: Pick<ReturnType<typeof createCollectedMembers>, 'addCall'>
}) {
  const slots = createCallSlots(toolNames)
  const argumentsBytes = new Map<number, number>()
  return {
    /** `isFirst`: the first call of its chunk. */
    read(value: unknown, at: string, isFirst: boolean): AnswerDelta[] {
      const piece = objectAt(value, at) ?? {}
      // Some servers leave the level out.
      const called = objectAt(piece['function'], `${at}.function`) ?? (typeof piece['name'] === 'string' ? piece : {})
      const id = idAt(piece['id'], `${at}.id`)
      const name = stringAt(called['name'], `${at}.function.name`, maxNameLength)
      const args = argumentsAt(called['arguments'], `${at}.function.arguments`)
      count(`${id ?? ''}${name ?? ''}`)
      const bytes = count(args)
      const index = integerAt(numberIn(piece['index']), `${at}.index`, maxCallNumber)
      if (index === undefined && id === undefined && name === undefined && args === '') return []
      return slots.add({ index, id, name, args }, isFirst).map((placed) => {
        const sum = (argumentsBytes.get(placed.index) ?? 0) + bytes
        if (sum > maxArgumentsBytes) throw tooLong(`has a call with arguments of more than ${maxArgumentsBytes} bytes`)
        argumentsBytes.set(placed.index, sum)
        collected.addCall(placed.index, piece)
        return { type: 'call', ...placed }
      })
    },
    /** What is left when the answer has ended. */
    end: (): AnswerDelta[] => slots.end().map((placed) => ({ type: 'call', ...placed })),
  }
}

/** Some servers write numbers as texts. */
function numberIn(value: unknown): unknown {
  return typeof value === 'string' && /^\d{1,3}$/.test(value) ? Number(value) : value
}

/** Some servers count the calls of all answers, and their ids are numbers. */
function idAt(value: unknown, at: string): string | undefined {
  const id = stringAt(typeof value === 'number' ? String(value) : value, at, maxIdLength)
  return id === '' ? undefined : id
}

/** The JSON text of arguments, or of a piece of them. Some servers send the object itself. */
function argumentsAt(value: unknown, at: string): string {
  if (value === undefined || value === null || value === 'null') return ''
  if (typeof value === 'string') return value
  if (typeof value !== 'object') throw invalid(`${at} must be a string`)
  return JSON.stringify(value)
}

/** A piece of a call as a server sent it. */
interface CallPiece {
  /** The server's number of the call. Some send none, and some send 0 for each. */
  index: number | undefined
  id: string | undefined
  name: string | undefined
  args: string
}

/** The same piece under the number of its call. */
interface PlacedPiece {
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
  /** What came of the arguments. */
  text: string
  /** An empty object that came first: some servers send the arguments after it. */
  held: string
  end: ReturnType<typeof createObjectEnd>
}

/**
 * Gives the calls of one answer numbers in the order in which they begin, whatever the server calls them. A piece
 * begins another call when it cannot continue the last one of its number: it has another id and a name, or the arguments
 * are complete. `toolNames`: those that were offered.
 */
function createCallSlots(toolNames: ReadonlySet<string> = new Set()) {
  const calls: Call[] = []
  const ids = new Set<string>()
  /** By the server's number. */
  const newest = new Map<number, Call>()

  function begin(name: string): Call {
    if (calls.length > maxCallIndex) throw invalid(`tool_calls must not be more than ${maxCallIndex + 1} calls`)
    const call = { slot: calls.length, id: undefined, name, hasArgs: false, text: '', held: '', end: createObjectEnd() }
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
    if (last.held !== '') return isOther || isNamed ? undefined : last
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
    // A name in pieces.
    if (isNewName) call.name = !toolNames.has(name) && toolNames.has(call.name + name) ? call.name + name : name
    call.hasArgs ||= args !== ''
    call.text += args
    return {
      index: call.slot,
      ...(isNewId ? { id } : {}),
      ...(isNewName ? { name: call.name } : {}),
      ...(args === '' ? {} : { args }),
    }
  }

  /** Some servers send a whole call once more. */
  function isRepeated({ index, id, name, args }: CallPiece): boolean {
    if (id === undefined || args === '') return false
    const last = index === undefined ? calls.findLast((call) => call.id === id) : newest.get(index)
    const isSame = last?.id === id && (name === undefined || name === '' || name === last.name)
    return isSame && (last.end.isComplete || last.held !== '') && args.trim() === (last.held || last.text).trim()
  }

  function endBuffered(except?: Call): PlacedPiece[] {
    return calls.flatMap((call) => {
      if (call === except || call.held === '') return []
      const args = call.held
      call.held = ''
      call.end.feed(args)
      return [place(call, { id: undefined, name: undefined, args })]
    })
  }

  return {
    /** `isFirstOfChunk`: without numbers, each further piece of one chunk is a call of its own. */
    add(piece: CallPiece, isFirstOfChunk: boolean): PlacedPiece[] {
      if (isRepeated(piece)) return []
      let call = continued(piece, isFirstOfChunk) ?? begin(piece.name ?? '')
      if (piece.index !== undefined) newest.set(piece.index, call)
      const placed = endBuffered(call)
      let { id, args } = piece
      if (call.text === '' && /^\s*\{\s*\}\s*$/.test(args)) {
        call.held = args
        return [...placed, place(call, { id, name: piece.name, args: '' })]
      }
      if (args.trim() !== '') call.held = ''
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
    /** What was held back when the answer ends. */
    end: (): PlacedPiece[] => endBuffered(),
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
