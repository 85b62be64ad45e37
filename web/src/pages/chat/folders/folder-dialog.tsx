import { Trash2, Upload as UploadIcon } from 'lucide-react'
import { useRef, useState } from 'react'
import { wordsOf } from '../../../lib/api.ts'
import {
  type Folder,
  addFolderFile,
  changeFolder,
  removeFolderFile,
  useFolderFiles,
  useFolders,
} from '../../../lib/folders.ts'
import { useMembership } from '../../../lib/membership.ts'
import { say } from '../../../lib/toasts.ts'
import { useSubmit } from '../../../lib/use-submit.ts'
import { folderMessages as t } from '../../../texts/folders.ts'
import { texts } from '../../../texts/index.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { TextArea, TextField } from '../../../ui/field.tsx'
import { Notice } from '../../../ui/notice.tsx'
import { Problem, Skeleton } from '../../../ui/states.tsx'
import { FileRow } from '../file-row.tsx'
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
    <Dialog title={t.editTitle(given.name)} onClose={onClose} wide>
      <form className="form" onSubmit={form.onSubmit}>
        {form.problem && <Notice tone="danger">{form.problem}</Notice>}
        <TextField
          label={t.name}
          value={name}
          onValue={setName}
          maxLength={longestName}
          required
          disabled={!canChange}
        />
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
        <div className="row row-end">
          <Button onClick={onClose}>{texts.cancel}</Button>
          <Button type="submit" look="primary" busy={form.isBusy} disabled={!canChange}>
            {texts.save}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** They are there as soon as they are added, and gone as soon as they are removed. */
function FolderFiles({ folder }: { folder: Folder }) {
  const { folder_id: id } = folder
  const files = useFolderFiles(folder)
  const input = useRef<HTMLInputElement>(null)
  const why = useMembership().why('editor')
  const [sending, setSending] = useState<string[]>([])
  const attempt = async (action: () => Promise<void>) =>
    action().catch((error: unknown) => say(wordsOf(error, texts.offline), 'danger'))
  const add = async (list: File[]) => {
    setSending(list.map(({ name }) => name))
    // One after the other: the first makes the place for all.
    for (const file of list) {
      await attempt(() => addFolderFile(id, file))
      setSending(([, ...rest]) => rest)
    }
  }
  return (
    <section className="stack-small" aria-labelledby="folder-files">
      <div className="spread">
        <h3 id="folder-files">{t.files}</h3>
        {why === undefined && (
          <Button size="small" busy={sending.length > 0} onClick={() => input.current?.click()}>
            <UploadIcon size={14} aria-hidden="true" />
            {t.add}
          </Button>
        )}
      </div>
      <p className="muted small">{why ?? t.filesText}</p>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={({ target }) => {
          void add([...(target.files ?? [])])
          target.value = ''
        }}
      />
      {files.isPending && <Skeleton lines={2} height={44} />}
      {files.isError && <Problem error={files.error} onRetry={() => void files.refetch()} />}
      {files.data?.length === 0 && sending.length === 0 && <p className="muted">{t.noFiles}</p>}
      <ul className="file-list">
        {files.data?.map(({ id: fileId, name, bytes, status, error }) => (
          <FileRow key={fileId} name={name} bytes={bytes} status={status} error={error}>
            {why === undefined && (
              <IconButton
                label={t.remove(name)}
                icon={<Trash2 size={16} />}
                onClick={() => void attempt(() => removeFolderFile(id, fileId))}
              />
            )}
          </FileRow>
        ))}
        {sending.map((name, place) => (
          <FileRow key={`${place} ${name}`} name={name} status="queued" />
        ))}
      </ul>
    </section>
  )
}
