import './folders.css'
import { FolderClosed, FolderOutput } from 'lucide-react'
import { useState } from 'react'
import type { Thread } from '../../../lib/api.ts'
import { createFolder, moveToFolder, useFolders } from '../../../lib/folders.ts'
import { keepKnown } from '../../../lib/known-folders.ts'
import { say } from '../../../lib/toasts.ts'
import { useSubmit } from '../../../lib/use-submit.ts'
import { folderMessages as t } from '../../../texts/folders.ts'
import { texts } from '../../../texts/index.ts'
import { FormDialog } from '../../../ui/dialog.tsx'
import { TextField } from '../../../ui/field.tsx'
import { Loading } from '../../../ui/states.tsx'
import { longestName } from './new-folder-dialog.tsx'

/** Moves a chat into a folder or out of it: for the keyboard and for phones, where nothing is dragged. */
export default function MoveDialog({ thread, onClose }: { thread: Thread; onClose: () => void }) {
  const folders = useFolders()
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState(thread.folder_id)
  const chat = thread.name || texts.chat.untitled
  const form = useSubmit(async () => {
    const made = name.trim() === '' ? undefined : await createFolder(name.trim())
    const folderId = made?.folder_id ?? chosen
    await moveToFolder(thread.thread_id, folderId)
    keepKnown(folderId !== null || folders.data?.length !== 0)
    onClose()
    const folder = made ?? folders.data?.find(({ folder_id: id }) => id === folderId)
    say(folder === undefined ? t.takenOut : t.moved(chat, folder.name))
  })
  const list = folders.data ?? []
  const known = list.some(({ folder_id: id }) => id === chosen) ? chosen : null
  return (
    <FormDialog title={t.move} action={texts.save} form={form} disabled={folders.data === undefined} onClose={onClose}>
      <Loading query={folders} lines={3} />
      {list.length > 0 && (
        <fieldset className="folder-choices">
          <legend className="visually-hidden">{t.title}</legend>
          <label className="thread-choice">
            <input type="radio" name="folder" checked={known === null} onChange={() => setChosen(null)} />
            <FolderOutput size={15} aria-hidden="true" />
            {t.none}
          </label>
          {list.map((folder) => (
            <label key={folder.folder_id} className="thread-choice">
              <input
                type="radio"
                name="folder"
                checked={known === folder.folder_id}
                onChange={() => setChosen(folder.folder_id)}
              />
              <FolderClosed size={15} aria-hidden="true" />
              <span className="truncate">{folder.name}</span>
            </label>
          ))}
        </fieldset>
      )}
      <TextField
        label={list.length === 0 ? t.create : t.orNew}
        value={name}
        onValue={setName}
        maxLength={longestName}
        required={folders.data?.length === 0}
      />
    </FormDialog>
  )
}
