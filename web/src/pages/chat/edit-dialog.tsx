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
  /** Sends the message as a new version. */
  onSend: (text: string) => Promise<void>
  /** Sends it in a new chat, which begins with what was said before. */
  onBranch: (text: string) => Promise<void>
  onClose: () => void
}

/** Edits a message: it becomes a new version in this chat, or the first new message of another chat. */
export function EditDialog({ text, onSend, onBranch, onClose }: EditProps) {
  const [value, setValue] = useState(text)
  const form = useSubmit(() => onSend(value.trim()).then(onClose))
  const branch = useSubmit(() => onBranch(value.trim()))
  const problem = form.problem ?? branch.problem
  const isEmpty = value.trim() === ''
  return (
    <Dialog title={t.editTitle} unsaved={value !== text && t.editLost} onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        <p className="muted small">{t.editText}</p>
        <TextArea label={t.message} rows={6} value={value} onValue={setValue} />
        {problem && <Notice tone="danger">{problem}</Notice>}
        <div className="row row-end">
          <Button onClick={onClose}>{texts.cancel}</Button>
          <Button busy={branch.isBusy} disabled={isEmpty || form.isBusy} onClick={() => void branch.submit()}>
            {t.branch}
          </Button>
          <Button type="submit" look="primary" busy={form.isBusy} disabled={isEmpty || branch.isBusy}>
            {t.sendEdited}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
