import { useNavigate } from '@tanstack/react-router'
import { useFolders } from '../../../lib/folders.ts'
import { folderMessages as t } from '../../../texts/folders.ts'
import { Button } from '../../../ui/button.tsx'
import { Notice } from '../../../ui/notice.tsx'

/** Says before the first message of a chat in which folder it begins. */
export default function InFolder({ folderId }: { folderId: string }) {
  const navigate = useNavigate()
  const folder = useFolders().data?.find(({ folder_id: id }) => id === folderId)
  if (folder === undefined) return undefined
  return (
    <Notice>
      <span>{t.inFolder(folder.name)}</span>{' '}
      <Button size="small" look="ghost" onClick={() => void navigate({ to: '/console/chat' })}>
        {t.leave}
      </Button>
    </Notice>
  )
}
