import { useState } from 'react'
import { createFolder } from '../../../lib/folders.ts'
import { say } from '../../../lib/toasts.ts'
import { useSubmit } from '../../../lib/use-submit.ts'
import { folderMessages as t } from '../../../texts/folders.ts'
import { texts } from '../../../texts/index.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { TextField } from '../../../ui/field.tsx'
import { Notice } from '../../../ui/notice.tsx'

export const longestName = 80

export function NewFolderDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  const form = useSubmit(async () => {
    const folder = await createFolder(name.trim())
    onClose()
    say(t.created(folder.name))
  })
  return (
    <Dialog title={t.create} onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        {form.problem && <Notice tone="danger">{form.problem}</Notice>}
        <TextField label={t.name} value={name} onValue={setName} maxLength={longestName} required autoFocus />
        <div className="row row-end">
          <Button onClick={onClose}>{texts.cancel}</Button>
          <Button type="submit" look="primary" busy={form.isBusy}>
            {t.create}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
