import type { Source } from '../../../lib/citations.ts'
import { shortName } from '../../../lib/names.ts'
import { placeOf } from '../../../lib/places.ts'
import { texts } from '../../../texts/index.ts'

const t = texts.chat

/** What the answer has used: the places that it cites. */
export function SourcesLine({ sources, onOpen }: { sources: Source[]; onOpen: (source: Source) => void }) {
  return (
    <div className="sources">
      <span className="muted">{t.sources}</span>
      <ul className="sources-list">
        {sources.map((source) => {
          const { number, passage } = source
          const place = placeOf(source)
          return (
            <li key={number}>
              <button
                type="button"
                className="source"
                title={[passage.file_name, place].filter(Boolean).join(', ')}
                onClick={() => onOpen(source)}
              >
                <span className="source-number">{number}</span>
                <span className="truncate">
                  {[shortName(passage.file_name), place && shortName(place)].filter(Boolean).join(', ')}
                </span>
              </button>
            </li>
          )
        })}
      </ul>
    </div>
  )
}
