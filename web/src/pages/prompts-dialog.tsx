import { useQuery } from '@tanstack/react-query'
import { MessageSquareText, Pencil, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { api, keys, queryClient, unwrap } from '../lib/api.ts'
import { type Prompt, promptsQuery } from '../lib/use-prompts.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { texts } from '../texts/index.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { ConfirmDialog, Dialog } from '../ui/dialog.tsx'
import { TextArea, TextField } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'
import { Empty, Problem, Skeleton } from '../ui/states.tsx'

const t = texts.prompts
type Draft = Pick<Prompt, 'name' | 'text'> & { prompt_id?: string }

const reload = () => queryClient.invalidateQueries({ queryKey: keys.prompts })
const pathOf = (id: string) => ({ params: { path: { prompt_id: id } } })

/** The user's prompts: to add, change and delete. */
export default function PromptsDialog({ onClose }: { onClose: () => void }) {
  const prompts = useQuery(promptsQuery)
  const [edited, setEdited] = useState<Draft>()
  const [deleted, setDeleted] = useState<Prompt>()
  if (edited) return <PromptDialog key={edited.prompt_id} first={edited} onClose={() => setEdited(undefined)} />
  return (
    <Dialog title={t.title} onClose={onClose} wide>
      <p className="muted">{t.text}</p>
      {prompts.isPending && <Skeleton lines={3} height={40} />}
      {prompts.isError && <Problem error={prompts.error} onRetry={() => void prompts.refetch()} />}
      {prompts.data?.length === 0 && (
        <Empty
          icon={<MessageSquareText size={32} aria-hidden="true" />}
          title={t.none}
          example={{
            text: t.example.text,
            onChoose: () => setEdited({ name: t.example.name, text: t.example.prompt }),
          }}
        >
          <Button look="primary" onClick={() => setEdited({ name: '', text: '' })}>
            {t.create}
          </Button>
        </Empty>
      )}
      {prompts.data && prompts.data.length > 0 && (
        <ul className="file-list" aria-label={t.title}>
          {prompts.data.map((prompt) => (
            <li key={prompt.prompt_id} className="file-row">
              <div className="grow">
                <strong className="truncate block">{prompt.name}</strong>
                <span className="truncate block muted small">{prompt.text}</span>
              </div>
              <IconButton
                label={`${texts.edit}: ${prompt.name}`}
                icon={<Pencil size={16} />}
                onClick={() => setEdited(prompt)}
              />
              <IconButton
                label={`${texts.delete}: ${prompt.name}`}
                icon={<Trash2 size={16} />}
                onClick={() => setDeleted(prompt)}
              />
            </li>
          ))}
        </ul>
      )}
      {prompts.data?.length !== 0 && (
        <div>
          <Button onClick={() => setEdited({ name: '', text: '' })}>
            <Plus size={16} aria-hidden="true" />
            {t.create}
          </Button>
        </div>
      )}
      {deleted && (
        <ConfirmDialog
          title={t.deleteTitle}
          text={t.deleteText(deleted.name)}
          action={texts.delete}
          onConfirm={async () => {
            await unwrap(api.DELETE('/user/prompts/{prompt_id}', pathOf(deleted.prompt_id)))
            await reload()
          }}
          onClose={() => setDeleted(undefined)}
        />
      )}
    </Dialog>
  )
}

function PromptDialog({ first, onClose }: { first: Draft; onClose: () => void }) {
  const [name, setName] = useState(first.name)
  const [text, setText] = useState(first.text)
  const [isClosing, setClosing] = useState(false)
  const form = useSubmit(async () => {
    const body = { name, text }
    if (first.prompt_id === undefined) await unwrap(api.POST('/user/prompts', { body }))
    else await unwrap(api.PUT('/user/prompts/{prompt_id}', { ...pathOf(first.prompt_id), body }))
    await reload()
    onClose()
  })
  const close = () => (name !== first.name || text !== first.text ? setClosing(true) : onClose())
  return (
    <Dialog title={first.prompt_id === undefined ? t.create : first.name} onClose={close} wide>
      <form className="form" onSubmit={form.onSubmit}>
        {form.problem && <Notice tone="danger">{form.problem}</Notice>}
        <TextField label={texts.name} help={t.nameHelp} required maxLength={80} value={name} onValue={setName} />
        <TextArea
          label={t.promptText}
          help={t.promptHelp}
          required
          rows={8}
          maxLength={8000}
          value={text}
          onValue={setText}
        />
        <div className="row row-end">
          <Button onClick={close}>{texts.cancel}</Button>
          <Button type="submit" look="primary" busy={form.isBusy}>
            {texts.save}
          </Button>
        </div>
      </form>
      {isClosing && (
        <ConfirmDialog
          title={texts.discardTitle}
          text={t.changesLost}
          action={texts.discard}
          onConfirm={async () => onClose()}
          onClose={() => setClosing(false)}
        />
      )}
    </Dialog>
  )
}
