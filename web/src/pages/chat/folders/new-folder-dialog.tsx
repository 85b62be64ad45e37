import { useState } from 'react'
import { createFolder } from '../../../lib/folders.ts'
import { say } from '../../../lib/toasts.ts'
import { useSubmit } from '../../../lib/use-submit.ts'
import { folderMessages as t } from '../../../texts/folders.ts'
import { FormDialog } from '../../../ui/dialog.tsx'
import { TextField } from '../../../ui/field.tsx'

export const longestName = 80

export function NewFolderDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  const form = useSubmit(async () => {
    const folder = await createFolder(name.trim())
    onClose()
    say(t.created(folder.name))
  })
  return (
    <FormDialog title={t.create} action={t.create} form={form} onClose={onClose}>
      <TextField label={t.name} value={name} onValue={setName} maxLength={longestName} required autoFocus />
    </FormDialog>
  )
}
