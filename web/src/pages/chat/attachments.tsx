import { X } from 'lucide-react'
import { shortName } from '../../lib/names.ts'
import { type Upload, forgetUpload } from '../../lib/uploads.ts'
import { texts } from '../../texts/index.ts'
import { IconButton } from '../../ui/button.tsx'
import { ProgressBar } from '../../ui/states.tsx'

const t = texts.knowledge

/** The files that were added in this chat, until they are ready. */
export function Attachments({ uploads }: { uploads: readonly Upload[] }) {
  return (
    <ul className="attachments">
      {uploads.map(({ key, name, phase, progress, error }) => (
        <li key={key} className="attachment" data-phase={phase}>
          <div className="attachment-head">
            <span className="grow truncate" title={name}>
              {shortName(name, 26)}
            </span>
            {(phase === 'failed' || phase === 'ready') && (
              <IconButton label={t.dismiss(name)} icon={<X size={14} />} onClick={() => forgetUpload(key)} />
            )}
          </div>
          {(phase === 'uploading' || phase === 'processing') && <ProgressBar value={progress} label={name} />}
          <span className={phase === 'failed' ? 'field-error' : 'muted'}>
            {phase === 'failed' ? (error ?? t.status.failed) : phase === 'uploading' ? t.uploading : t.status[phase]}
          </span>
        </li>
      ))}
    </ul>
  )
}
