import { useState } from 'react'
import { useSubmit } from '../../lib/use-submit.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextArea } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'

const t = texts.chat

interface EditProps {
  text: string
  onBranch: (text: string) => Promise<void>
  onClose: () => void
}

/** Edits a message, from which a new chat begins. */
export function EditDialog({ text, onBranch, onClose }: EditProps) {
  const [value, setValue] = useState(text)
  const form = useSubmit(() => onBranch(value.trim()))
  return (
    <Dialog title={t.editTitle} onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        <p className="muted small">{t.editText}</p>
        {form.problem && <Notice tone="danger">{form.problem}</Notice>}
        <TextArea label={t.message} rows={6} value={value} onValue={setValue} autoFocus />
        <div className="row row-end">
          <Button onClick={onClose}>{texts.cancel}</Button>
          <Button type="submit" look="primary" busy={form.isBusy} disabled={value.trim() === ''}>
            {t.branch}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
