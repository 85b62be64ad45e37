import { useState } from 'react'
import {
  type Folder,
  addFolderFile,
  changeFolder,
  removeFolderFile,
  useFolderFiles,
  useFolders,
} from '../../../lib/folders.ts'
import { useMembership } from '../../../lib/membership.ts'
import { useSubmit } from '../../../lib/use-submit.ts'
import { folderMessages as t } from '../../../texts/folders.ts'
import { texts } from '../../../texts/index.ts'
import { FormDialog } from '../../../ui/dialog.tsx'
import { TextArea, TextField } from '../../../ui/field.tsx'
import { OwnFiles } from '../own-files.tsx'
import { longestName } from './new-folder-dialog.tsx'

const longestInstructions = 8000

/** What a folder is called, and what holds in all of its chats. */
export function FolderDialog({ folder: given, onClose }: { folder: Folder; onClose: () => void }) {
  // Its vector store is made with the first file.
  const folder = useFolders().data?.find(({ folder_id: id }) => id === given.folder_id) ?? given
  const [name, setName] = useState(given.name)
  const [instructions, setInstructions] = useState(given.instructions ?? '')
  const canChange = useMembership().may('member')
  const form = useSubmit(async () => {
    await changeFolder(given.folder_id, { name: name.trim(), instructions: instructions.trim() || null })
    onClose()
  })
  return (
    <FormDialog
      wide
      title={t.editTitle(given.name)}
      action={texts.save}
      form={form}
      disabled={!canChange}
      onClose={onClose}
    >
      <TextField label={t.name} value={name} onValue={setName} maxLength={longestName} required disabled={!canChange} />
      <TextArea
        label={t.instructions}
        help={t.instructionsHelp}
        value={instructions}
        onValue={setInstructions}
        maxLength={longestInstructions}
        rows={5}
        disabled={!canChange}
      />
      <FolderFiles folder={folder} />
    </FormDialog>
  )
}

/** They are there as soon as they are added, and gone as soon as they are removed. */
function FolderFiles({ folder }: { folder: Folder }) {
  const { folder_id: id } = folder
  const files = useFolderFiles(folder)
  return (
    <OwnFiles
      id="folder-files"
      files={files}
      labels={{ title: t.files, text: t.filesText, none: t.noFiles, add: t.add, remove: t.remove }}
      add={(file) => addFolderFile(id, file)}
      remove={(fileId) => removeFolderFile(id, fileId)}
    />
  )
}
