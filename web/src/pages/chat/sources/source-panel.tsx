import './sources.css'
import { ChevronLeft, ChevronRight, Download, X } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { useFiles, wordsOf } from '../../../lib/api.ts'
import type { Source } from '../../../lib/citations.ts'
import { placeOf } from '../../../lib/places.ts'
import { shortName } from '../../../lib/names.ts'
import { downloadOriginal } from '../../../lib/originals.ts'
import { say } from '../../../lib/toasts.ts'
import { texts } from '../../../texts/index.ts'
import { IconButton } from '../../../ui/button.tsx'
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
export function SourcePanel({ assistantId, sources, shown, onShow, onClose }: PanelProps) {
  const panel = useRef<HTMLElement>(null)
  const { passage, number } = shown
  const place = sources.findIndex((source) => source.number === number)
  const files = useFiles(assistantId)
  const file = files.data?.files.find(({ id }) => id === passage.file_id)
  useEffect(() => panel.current?.focus(), [])
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      // A dialog that is open takes the key for itself.
      if (event.key === 'Escape' && !event.defaultPrevented && !document.querySelector('dialog[open]')) onClose()
    }
    window.addEventListener('keydown', onKeyDown)
    return () => window.removeEventListener('keydown', onKeyDown)
  }, [onClose])
  const step = (by: number) => {
    const next = sources[place + by]
    if (next) onShow(next)
  }
  return (
    <>
      <button type="button" className="source-scrim" aria-label={t.close} tabIndex={-1} onClick={onClose} />
      <aside ref={panel} className="source-panel" aria-label={t.label(number, passage.file_name)} tabIndex={-1}>
        <header className="source-head">
          <span className="source-number">{number}</span>
          <div className="grow">
            <h2 className="source-title truncate" title={passage.file_name}>
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
          <IconButton label={t.close} icon={<X size={18} />} onClick={onClose} />
        </header>
        <Original key={`${number} ${shown.quote}`} assistantId={assistantId} source={shown} files={files} />
      </aside>
    </>
  )
}
