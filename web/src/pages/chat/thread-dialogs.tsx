import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, keys, orNull, queryClient, type Thread, unwrap } from '../../lib/api.ts'
import { formatAgo } from '../../lib/format.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { texts } from '../../texts/index.ts'
import { peopleMessages } from '../../texts/people.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/code-block.tsx'
import { Dialog, FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Loading } from '../../ui/states.tsx'
import { WhoSees } from './who-sees.tsx'

const t = texts.chat

interface DialogProps {
  thread: Thread
  onClose: () => void
}

/** Changes what a chat is called. */
export function RenameDialog({ thread, onClose }: DialogProps) {
  const [name, setName] = useState(thread.name)
  return (
    <ChangeDialog
      title={t.renameTitle}
      action={texts.rename}
      thread={thread}
      change={{ name: name.trim() }}
      onClose={onClose}
    >
      <TextField label={texts.name} value={name} onValue={setName} maxLength={200} required autoFocus />
    </ChangeDialog>
  )
}

export function TagsDialog({ thread, onClose }: DialogProps) {
  const [text, setText] = useState(thread.tags.join(', '))
  return (
    <ChangeDialog
      title={t.tagsTitle}
      action={texts.save}
      thread={thread}
      change={{ tags: text.split(',').filter((tag) => tag.trim() !== '') }}
      onClose={onClose}
    >
      <TextField label={texts.nav.tags} help={t.tagsHelp} value={text} onValue={setText} maxLength={420} autoFocus />
    </ChangeDialog>
  )
}

interface ChangeProps extends DialogProps {
  title: string
  action: string
  change: { name?: string; tags?: string[] }
  children: React.ReactNode
}

function ChangeDialog({ title, action, thread: { thread_id: tid }, change, onClose, children }: ChangeProps) {
  const form = useSubmit(async () => {
    await unwrap(api.PUT('/threads/{tid}', { params: { path: { tid } }, body: change }))
    await Promise.all(
      [keys.threads, keys.thread(tid), keys.tags].map((queryKey) => queryClient.invalidateQueries({ queryKey })),
    )
    onClose()
  })
  return (
    <FormDialog title={title} action={action} form={form} onClose={onClose}>
      {children}
    </FormDialog>
  )
}

/** Who in the project sees a chat, and the link by which everybody can read it. */
export function ShareDialog({ thread: listed, onClose }: DialogProps) {
  const { thread_id: tid } = listed
  const thread = useQuery({
    queryKey: keys.thread(tid),
    initialData: listed,
    queryFn: () => unwrap(api.GET('/threads/{tid}', { params: { path: { tid } } })),
  }).data
  return (
    <Dialog title={t.share.title} onClose={onClose}>
      <div className="stack">
        <WhoSees thread={thread} />
        <section className="stack-small">
          <h3>{peopleMessages.sees.link}</h3>
          <ShareLink threadId={tid} />
        </section>
      </div>
    </Dialog>
  )
}

/** Makes, renews and revokes the link by which everybody can read a chat. */
function ShareLink({ threadId: tid }: { threadId: string }) {
  const path = { params: { path: { tid } } }
  const [url, setUrl] = useState<string>()
  const share = useQuery({
    queryKey: keys.share(tid),
    retry: false,
    staleTime: 0,
    queryFn: () => orNull(unwrap(api.GET('/threads/{tid}/share', path))),
  })
  const changed = () =>
    Promise.all([keys.share(tid), keys.shares].map((queryKey) => queryClient.invalidateQueries({ queryKey })))
  const form = useSubmit(async () => {
    setUrl((await unwrap(api.POST('/threads/{tid}/share', path))).url)
    await changed()
  })
  const update = useSubmit(async () => {
    await unwrap(api.PUT('/threads/{tid}/share', path))
    await changed()
  })
  const revoke = useSubmit(async () => {
    await unwrap(api.DELETE('/threads/{tid}/share', path))
    setUrl(undefined)
    await changed()
  })
  const problem = form.problem ?? update.problem ?? revoke.problem
  return (
    <div className="form">
      <p className="muted">{t.share.text}</p>
      <Loading query={share} lines={2} />
      {share.data && (
        <p role="status">
          {t.share.state(formatAgo(share.data.updated_at), share.data.views)} {url === undefined && t.share.onlyOnce}
        </p>
      )}
      {url !== undefined && (
        <div className="row row-bottom">
          <div className="grow">
            <TextField label={t.share.link} value={url} readOnly mono />
          </div>
          <CopyButton text={url} />
        </div>
      )}
      {problem && <Notice tone="danger">{problem}</Notice>}
      <div className="row row-end">
        {share.data && (
          <form onSubmit={revoke.onSubmit}>
            <Button type="submit" look="danger" busy={revoke.isBusy}>
              {t.share.revoke}
            </Button>
          </form>
        )}
        {share.data && (
          <form onSubmit={update.onSubmit}>
            <Button type="submit" busy={update.isBusy}>
              {t.share.update}
            </Button>
          </form>
        )}
        {share.data !== undefined && url === undefined && (
          <form onSubmit={form.onSubmit}>
            <Button type="submit" look="primary" busy={form.isBusy}>
              {share.data === null ? t.share.make : t.share.renew}
            </Button>
          </form>
        )}
      </div>
    </div>
  )
}
