import type { AnswerDelta } from '../../services/runs/chat-model.ts'
import { maxArgumentsBytes, maxIdLength, maxNameLength } from './answer-limits.ts'
import { createCallSlots } from './call-slots.ts'
import type { createCollectedMembers } from './collected-members.ts'
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
