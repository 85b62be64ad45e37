import { useQuery } from '@tanstack/react-query'
import { MessageSquareText, Pencil, Plus, Trash2, UsersRound } from 'lucide-react'
import { useState } from 'react'
import { api, keys, queryClient, unwrap, wordsOf } from '../lib/api.ts'
import { useMembership } from '../lib/membership.ts'
import { useSession } from '../lib/session.ts'
import { say } from '../lib/toasts.ts'
import { type Prompt, promptsQuery, sharedPromptsQuery } from '../lib/use-prompts.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { texts } from '../texts/index.ts'
import { mentionMessages } from '../texts/mentions.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { ConfirmDialog, Dialog, FormDialog } from '../ui/dialog.tsx'
import { TextArea, TextField } from '../ui/field.tsx'
import { Empty, Loading, Problem } from '../ui/states.tsx'

const t = texts.prompts
const m = mentionMessages
type Draft = Pick<Prompt, 'name' | 'text'> & {
  prompt_id?: string
  /** Somebody else has shared it with the project. */
  isOfOther?: boolean
}

const reload = () => queryClient.invalidateQueries({ queryKey: keys.prompts })
const pathOf = (id: string) => ({ params: { path: { prompt_id: id } } })

/** The user's prompts: to add, change and delete. */
export default function PromptsDialog({ onClose }: { onClose: () => void }) {
  const prompts = useQuery(promptsQuery)
  const projectId = useSession()?.projectId
  const canShare = useMembership().may('member')
  const [edited, setEdited] = useState<Draft>()
  const [deleted, setDeleted] = useState<Prompt>()
  if (edited) return <PromptDialog key={edited.prompt_id} first={edited} onClose={() => setEdited(undefined)} />
  return (
    <Dialog title={t.title} onClose={onClose} wide>
      <p className="muted">{t.text}</p>
      <Loading query={prompts} lines={3} height={40} />
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
            <li key={prompt.prompt_id} className="file-row file-row-wraps">
              <div className="grow">
                <strong className="truncate block">{prompt.name}</strong>
                <span className="truncate block muted small">{prompt.text}</span>
              </div>
              {prompt.project_id === projectId && <span className="tag">{m.sharedTag}</span>}
              {canShare && (
                <IconButton
                  label={prompt.project_id === projectId ? m.unshare(prompt.name) : m.share(prompt.name)}
                  aria-pressed={prompt.project_id === projectId}
                  icon={<UsersRound size={16} />}
                  onClick={() => void setShared(prompt, prompt.project_id !== projectId)}
                />
              )}
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
      <ProjectPrompts own={prompts.data ?? []} onEdit={setEdited} />
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

/** What others share with the project. */
function ProjectPrompts({ own, onEdit }: { own: Prompt[]; onEdit: (draft: Draft) => void }) {
  const { may } = useMembership()
  const shared = useQuery(sharedPromptsQuery)
  const canEdit = may('editor')
  const others = shared.data?.filter(({ prompt_id: id }) => own.every((one) => one.prompt_id !== id)) ?? []
  if (others.length === 0 && !shared.isError) return undefined
  return (
    <section className="stack-small" aria-labelledby="project-prompts">
      <h3 id="project-prompts">{m.ofProject}</h3>
      <p className="muted small">{m.ofProjectText}</p>
      {shared.isError && <Problem error={shared.error} onRetry={() => void shared.refetch()} />}
      <ul className="file-list">
        {others.map((prompt) => (
          <li key={prompt.prompt_id} className="file-row file-row-wraps">
            <div className="grow">
              <strong className="truncate block">{prompt.name}</strong>
              <span className="truncate block muted small">
                {[prompt.created_by && m.by(prompt.created_by.name), prompt.text].filter(Boolean).join(' · ')}
              </span>
            </div>
            {canEdit && (
              <>
                <IconButton
                  label={m.unshare(prompt.name)}
                  aria-pressed
                  icon={<UsersRound size={16} />}
                  onClick={() => void setShared(prompt, false)}
                />
                <IconButton
                  label={`${texts.edit}: ${prompt.name}`}
                  icon={<Pencil size={16} />}
                  onClick={() => onEdit({ ...prompt, isOfOther: true })}
                />
              </>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

async function setShared({ prompt_id: id }: Prompt, isShared: boolean): Promise<void> {
  try {
    await (isShared
      ? unwrap(api.POST('/prompts/{prompt_id}/share', pathOf(id)))
      : unwrap(api.DELETE('/prompts/{prompt_id}/share', pathOf(id))))
    await reload()
    say(isShared ? m.shared : m.unshared)
  } catch (error) {
    say(wordsOf(error, texts.offline), 'danger')
  }
}

function PromptDialog({ first, onClose }: { first: Draft; onClose: () => void }) {
  const [name, setName] = useState(first.name)
  const [text, setText] = useState(first.text)
  const form = useSubmit(async () => {
    const body = { name, text }
    if (first.prompt_id === undefined) await unwrap(api.POST('/user/prompts', { body }))
    else if (first.isOfOther === true)
      await unwrap(api.PUT('/prompts/{prompt_id}', { ...pathOf(first.prompt_id), body }))
    else await unwrap(api.PUT('/user/prompts/{prompt_id}', { ...pathOf(first.prompt_id), body }))
    await reload()
    onClose()
  })
  const isChanged = name !== first.name || text !== first.text
  return (
    <FormDialog
      title={first.prompt_id === undefined ? t.create : first.name}
      wide
      unsaved={isChanged && t.changesLost}
      form={form}
      action={texts.save}
      onClose={onClose}
    >
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
    </FormDialog>
  )
}
