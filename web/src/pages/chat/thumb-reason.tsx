import { useId, useState } from 'react'
import { useSubmit } from '../../lib/use-submit.ts'
import { insightMessages } from '../../texts/insights.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextArea } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'

const t = insightMessages.reason
const reasons = Object.entries(t.reasons)

interface ThumbReasonProps {
  onSend: (said: { value?: string; comment?: string }) => Promise<void>
  onClose: () => void
}

/** Asks why an answer was not good; both may be left out. */
export default function ThumbReason({ onSend, onClose }: ThumbReasonProps) {
  const [reason, setReason] = useState('')
  const [comment, setComment] = useState('')
  const id = useId()
  const form = useSubmit(async () => {
    const words = comment.trim()
    await onSend({ ...(reason && { value: reason }), ...(words && { comment: words }) })
    onClose()
  })
  return (
    <Dialog title={t.title} onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        <p className="muted small">{t.text}</p>
        {form.problem && <Notice tone="danger">{form.problem}</Notice>}
        <fieldset className="stack-small">
          <legend className="visually-hidden">{t.title}</legend>
          {reasons.map(([name, label]) => (
            <div key={name} className="check">
              <input
                type="radio"
                name={`${id}-reason`}
                id={`${id}-${name}`}
                checked={reason === name}
                onChange={() => setReason(name)}
              />
              <label htmlFor={`${id}-${name}`}>{label}</label>
            </div>
          ))}
        </fieldset>
        <TextArea label={t.comment} rows={3} maxLength={2000} value={comment} onValue={setComment} />
        <div className="row row-end">
          <Button onClick={onClose}>{texts.cancel}</Button>
          <Button type="submit" look="primary" busy={form.isBusy}>
            {t.send}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
