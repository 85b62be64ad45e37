import { type Folder, useFolderFiles, useFolders } from '../../../lib/folders.ts'
import { folderMessages as t } from '../../../texts/folders.ts'
import { FileRow } from '../file-row.tsx'

/** Among the files that a chat is answered from: those of its folder. */
export function FilesOfFolder({ folderId }: { folderId: string }) {
  const folder = useFolders().data?.find(({ folder_id: id }) => id === folderId)
  return folder && <Files folder={folder} />
}

function Files({ folder }: { folder: Folder }) {
  const files = useFolderFiles(folder)
  return (
    <section className="stack-small" aria-labelledby="chat-files-folder">
      <h3 id="chat-files-folder">{t.ofFolder(folder.name)}</h3>
      {files.data?.length === 0 && <p className="muted">{t.noFiles}</p>}
      <ul className="file-list">
        {files.data?.map(({ id, name, bytes, status, error }) => (
          <FileRow key={id} name={name} bytes={bytes} status={status} error={error} />
        ))}
      </ul>
    </section>
  )
}
