import './sources.css'
import { ChevronLeft, ChevronRight, Download } from 'lucide-react'
import { useFiles, wordsOf } from '../../../lib/api.ts'
import type { Source } from '../../../lib/citations.ts'
import { shortName } from '../../../lib/names.ts'
import { downloadOriginal } from '../../../lib/originals.ts'
import { placeOf } from '../../../lib/places.ts'
import { say } from '../../../lib/toasts.ts'
import { texts } from '../../../texts/index.ts'
import { IconButton } from '../../../ui/button.tsx'
import { SidePanel } from '../../../ui/side-panel.tsx'
import { Original } from './original.tsx'

const t = texts.source

interface PanelProps {
  assistantId: string | undefined
  /** All sources of the answer, and the one that is shown. */
  sources: Source[]
  shown: Source
  onShow: (source: Source) => void
  onClose: () => void
}

/** Beside the chat, or over it where there is little room: the original of a source, with the cited sentence marked. */
export function SourcePanel({ assistantId: asking, sources, shown, onShow, onClose }: PanelProps) {
  const { passage, number } = shown
  const assistantId = passage.assistant_id ?? asking
  const place = sources.findIndex((source) => source.number === number)
  const files = useFiles(assistantId)
  const file = files.data?.files.find(({ id }) => id === passage.file_id)
  const step = (by: number) => {
    const next = sources[place + by]
    if (next) onShow(next)
  }
  const head = (
    <>
      <span className="source-number">{number}</span>
      <div className="grow">
        <h2 className="side-title truncate" title={passage.file_name}>
          {shortName(passage.file_name, sources.length > 1 ? 20 : 30)}
        </h2>
        <div className="muted small truncate">{placeOf(shown) ?? t.passage}</div>
      </div>
      {sources.length > 1 && (
        <div className="source-steps">
          <IconButton
            label={t.previous}
            icon={<ChevronLeft size={17} />}
            aria-disabled={place <= 0}
            onClick={() => step(-1)}
          />
          <span className="small muted" aria-live="polite">
            {t.placeOf(place + 1, sources.length)}
          </span>
          <IconButton
            label={t.next}
            icon={<ChevronRight size={17} />}
            aria-disabled={place + 1 >= sources.length}
            onClick={() => step(1)}
          />
        </div>
      )}
      {file && assistantId !== undefined && (
        <IconButton
          label={t.download}
          icon={<Download size={17} />}
          onClick={() =>
            void downloadOriginal(assistantId, file.id, file.name).catch((error: unknown) =>
              say(wordsOf(error, texts.offline), 'danger'),
            )
          }
        />
      )}
    </>
  )
  return (
    <SidePanel label={t.label(number, passage.file_name)} closeLabel={t.close} head={head} onClose={onClose}>
      <Original key={`${number} ${shown.quote}`} assistantId={assistantId} source={shown} files={files} />
    </SidePanel>
  )
}
