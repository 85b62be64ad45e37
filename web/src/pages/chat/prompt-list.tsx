import { Settings2 } from 'lucide-react'
import type { ReactNode } from 'react'
import type { usePrompts } from '../../lib/use-prompts.ts'
import { texts } from '../../texts/index.ts'

const t = texts.prompts

/** The prompts that fit what is written. The field has the focus and handles the keys. */
export function PromptList({ isOpen, found, chosen, listId, choose }: ReturnType<typeof usePrompts>) {
  if (!isOpen) return undefined
  const option = (index: number, key: string, content: ReactNode) => (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
    <div
      key={key}
      id={`${listId}-${index}`}
      role="option"
      tabIndex={-1}
      aria-selected={index === chosen}
      ref={index === chosen ? (item) => item?.scrollIntoView({ block: 'nearest' }) : undefined}
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => choose(index)}
    >
      {content}
    </div>
  )
  return (
    <div className="prompt-list" id={listId} role="listbox" aria-label={t.title}>
      {found.map((prompt, index) =>
        option(
          index,
          prompt.prompt_id,
          <>
            <strong className="truncate">{prompt.name}</strong>
            <span className="truncate muted small">{prompt.text}</span>
          </>,
        ),
      )}
      {option(
        found.length,
        'manage',
        <span className="prompt-manage">
          <Settings2 size={15} aria-hidden="true" />
          {found.length === 0 ? t.first : t.manage}
        </span>,
      )}
    </div>
  )
}
