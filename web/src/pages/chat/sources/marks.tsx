import { Tooltip } from 'radix-ui'
import { createContext, use } from 'react'
import type { Source } from '../../../lib/citations.ts'
import { placeOf } from '../../../lib/places.ts'
import { flowing } from '../../../lib/sentences.ts'
import { texts } from '../../../texts/index.ts'

interface Marks {
  marks: Source[]
  onOpen: (source: Source) => void
}

/** The citations of the answer that is being shown. */
export const MarksContext = createContext<Marks>({ marks: [], onOpen: () => {} })

/** A numbered mark in the text. Shows the cited sentence when it is pointed at, and opens its source. */
export function Mark({ place }: { place: number }) {
  const { marks, onOpen } = use(MarksContext)
  const source = marks[place]
  if (source === undefined) return undefined
  const { number, passage, quote } = source
  const where = [passage.file_name, placeOf(source)].filter(Boolean).join(', ')
  return (
    <Tooltip.Provider delayDuration={120} skipDelayDuration={300}>
      <Tooltip.Root>
        <Tooltip.Trigger asChild>
          <button
            type="button"
            className="mark"
            aria-label={texts.chat.source(number, where)}
            onClick={() => onOpen(source)}
          >
            {number}
          </button>
        </Tooltip.Trigger>
        <Tooltip.Portal>
          <Tooltip.Content className="mark-hover" sideOffset={6} collisionPadding={12}>
            <q>{flowing(quote)}</q>
            <span className="muted small truncate">{where}</span>
          </Tooltip.Content>
        </Tooltip.Portal>
      </Tooltip.Root>
    </Tooltip.Provider>
  )
}
