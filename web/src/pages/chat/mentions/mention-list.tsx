import { Bot, FileText } from 'lucide-react'
import { type KeyboardEvent, type RefObject, useEffect, useId, useState } from 'react'
import { useAssistants, useFiles } from '../../../lib/api.ts'
import { composes } from '../../../lib/composes.ts'
import type { Mention } from '../../../lib/mentions.ts'
import { mentionMessages as t } from '../../../texts/mentions.ts'

const most = 50

interface MentionListProps {
  sign: '@' | '#'
  wanted: string
  /** Whose files are offered. */
  assistantId: string | undefined
  field: RefObject<HTMLTextAreaElement | null>
  /** Told what handles the keys of the field, and says whether one was for the list. */
  onKeys: (handle: ((event: KeyboardEvent) => boolean) | undefined) => void
  onChoose: (mention: Mention) => void
}

/** The assistants or files that fit what is being named. The field has the focus and handles the keys. */
export default function MentionList({ sign, wanted, assistantId, field, onKeys, onChoose }: MentionListProps) {
  const listId = useId()
  const [place, setPlace] = useState({ wanted, chosen: 0 })
  const [isClosed, setClosed] = useState(false)
  const assistants = useAssistants()
  const files = useFiles(sign === '#' ? assistantId : undefined)
  const all: Mention[] =
    sign === '@'
      ? (assistants.data ?? []).map(({ assistant_id: id, name }) => ({ sign, id, name }))
      : (files.data?.files ?? []).flatMap(({ id, name, metadata }) =>
          metadata.status === 'ready' ? [{ sign, id, name, assistantId }] : [],
        )
  const words = wanted.trim().toLowerCase()
  const found = fitting(all, words).slice(0, most)
  // Behind a whole name the message goes on.
  const isWhole = wanted.endsWith(' ') && found.some(({ name }) => name.toLowerCase() === words)
  const isOpen = !isClosed && !isWhole && found.length > 0
  // What is written next begins at the first entry again.
  const chosen = place.wanted === wanted ? Math.min(place.chosen, Math.max(0, found.length - 1)) : 0
  const onKeyDown = (event: KeyboardEvent): boolean => {
    if (!isOpen || composes(event.nativeEvent) || event.shiftKey) return false
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const entry = found[chosen]
    if (step !== undefined) setPlace({ wanted, chosen: (chosen + step + found.length) % found.length })
    else if ((event.key === 'Enter' || event.key === 'Tab') && entry !== undefined) onChoose(entry)
    else if (event.key === 'Escape') setClosed(true)
    else return false
    event.preventDefault()
    return true
  }
  useEffect(() => {
    onKeys(onKeyDown)
    return () => onKeys(undefined)
  })
  useEffect(() => {
    const element = field.current
    if (!isOpen || element === null) return
    element.setAttribute('aria-controls', listId)
    element.setAttribute('aria-activedescendant', `${listId}-${chosen}`)
    return () => {
      element.removeAttribute('aria-controls')
      element.removeAttribute('aria-activedescendant')
    }
  }, [field, isOpen, listId, chosen])
  if (!isOpen) return undefined
  const Icon = sign === '@' ? Bot : FileText
  return (
    <div className="prompt-list" id={listId} role="listbox" aria-label={sign === '@' ? t.assistants : t.files}>
      {found.map((mention, index) => (
        // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
        <div
          key={mention.id}
          id={`${listId}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === chosen}
          ref={index === chosen ? (item) => item?.scrollIntoView({ block: 'nearest' }) : undefined}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onChoose(mention)}
        >
          <span className="prompt-manage">
            <Icon size={15} aria-hidden="true" />
            <span className="truncate">{mention.name}</span>
          </span>
          <span className="truncate muted small">{sign === '@' ? t.answers : t.searched}</span>
        </div>
      ))}
    </div>
  )
}

/** Those whose names begin with the words first, then those that have them. */
function fitting(all: Mention[], wanted: string): Mention[] {
  const begins = all.filter(({ name }) => name.toLowerCase().startsWith(wanted))
  const holds = all.filter((one) => !begins.includes(one) && one.name.toLowerCase().includes(wanted))
  return [...begins, ...holds]
}
