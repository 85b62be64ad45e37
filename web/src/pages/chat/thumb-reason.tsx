import { useId, useState } from 'react'
import { useSubmit } from '../../lib/use-submit.ts'
import { insightMessages } from '../../texts/insights.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextArea } from '../../ui/field.tsx'

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
    <FormDialog title={t.title} action={t.send} form={form} onClose={onClose}>
      <p className="muted small">{t.text}</p>
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
    </FormDialog>
  )
}
