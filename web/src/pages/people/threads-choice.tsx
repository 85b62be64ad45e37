import { useId } from 'react'
import type { Schemas } from '../../lib/api.ts'
import { peopleMessages as t } from '../../texts/people.ts'

export type Choice = Schemas['PrivateThreads']
const choices = ['keep', 'hand_over'] as const satisfies Choice[]

interface ThreadsChoiceProps {
  value: Choice
  /** What each choice means, in words. */
  words: Record<Choice, string>
  onValue: (value: Choice) => void
}

/** What becomes of the private chats of somebody who does not use the project any more. */
export function ThreadsChoice({ value, words, onValue }: ThreadsChoiceProps) {
  const id = useId()
  return (
    <fieldset className="field">
      <legend className="field-label">{t.threads}</legend>
      {choices.map((choice) => (
        <div key={choice} className="check">
          <input
            type="radio"
            name={id}
            id={`${id}-${choice}`}
            checked={value === choice}
            onChange={() => onValue(choice)}
          />
          <label htmlFor={`${id}-${choice}`}>{words[choice]}</label>
        </div>
      ))}
      <div className="field-help">{t.threadsShared}</div>
    </fieldset>
  )
}
