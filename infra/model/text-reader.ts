import { isJsonObject } from '../../domain/is-json-object.ts'
import type { AnswerDelta } from '../../services/runs/chat-model.ts'
import { arrayAt, isArray, objectAt, stringAt } from './foreign-values.ts'
import { createThinkingTags } from './thinking-tags.ts'

/** Reads the text of an answer, and the thinking in it. `count` counts the bytes of a text and limits those of all. */
export function createTextReader({
  thinkingIsOpen,
  count,
}: {
  /** The text begins as thinking. */
  thinkingIsOpen: boolean
  count(text: string): number
}) {
  let tags: ReturnType<typeof createThinkingTags> | undefined = createThinkingTags({ isOpen: thinkingIsOpen })
  let hasContent = false

  function textDeltas(text: string): AnswerDelta[] {
    hasContent = true
    if (tags === undefined) return [{ type: 'text', text }]
    const pieces: AnswerDelta[] = tags.add(text)
    const restart = tags.restart()
    if (restart === undefined) return pieces
    return [{ type: 'restart', ...restart }]
  }

  function reasoningDeltas(text: string): AnswerDelta[] {
    // Who sends thinking in a member of its own has no tags in its text.
    if (!hasContent) tags = undefined
    return [{ type: 'reasoning', text }]
  }

  function partDeltas(value: unknown, at: string): AnswerDelta[] {
    if (typeof value === 'string') return value === '' ? [] : textDeltas(counted(value))
    const part = objectAt(value, at) ?? {}
    const thought = part['thinking'] ?? part['reasoning']
    if (thought !== undefined && thought !== null)
      return (isArray(thought) ? thought : [thought]).flatMap((piece) => {
        const text = typeof piece === 'string' ? piece : (stringAt(objectAt(piece, at)?.['text'], `${at}.text`) ?? '')
        return text === '' ? [] : reasoningDeltas(counted(text))
      })
    const refusal = stringAt(part['refusal'], `${at}.refusal`)
    if (refusal) return [{ type: 'refusal', text: counted(refusal) }]
    const said = part['text']
    const text = stringAt(isJsonObject(said) ? said['value'] : said, `${at}.text`)
    return text ? textDeltas(counted(text)) : []
  }

  function contentDeltas(value: unknown, at: string): AnswerDelta[] {
    if (isArray(value)) return (arrayAt(value, at) ?? []).flatMap((part, place) => partDeltas(part, `${at}[${place}]`))
    if (isJsonObject(value)) return partDeltas(value, at)
    const text = stringAt(value, at)
    return text ? textDeltas(counted(text)) : []
  }

  function counted(text: string): string {
    count(text)
    return text
  }

  return {
    content: contentDeltas,
    reasoning: (text: string): AnswerDelta[] => reasoningDeltas(counted(text)),
    end(answer: { isCut: boolean; hasCalls: boolean }): AnswerDelta[] {
      const last = tags?.end(answer)
      const pieces: AnswerDelta[] = last?.pieces ?? []
      return last?.restart === undefined ? pieces : [...pieces, { type: 'restart', ...last.restart }]
    },
  }
}
