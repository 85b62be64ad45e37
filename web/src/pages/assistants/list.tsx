import { Link, useNavigate } from '@tanstack/react-router'
import { Bot, Plus } from 'lucide-react'
import { useState } from 'react'
import { api, configKey, keys, queryClient, unwrap, useAssistants } from '../../lib/api.ts'
import { formatAgo } from '../../lib/format.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { useTitle } from '../../lib/use-title.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Face } from '../../ui/face.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextArea, TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Empty, Problem, Skeleton } from '../../ui/states.tsx'
import { FromFile } from './from-file.tsx'

const t = texts.assistants

export function Assistants() {
  useTitle(t.title)
  const assistants = useAssistants()
  const [isCreating, setCreating] = useState(false)
  return (
    <div className="page">
      <header className="page-head">
        <div>
          <h1>{t.title}</h1>
          <p className="muted">{t.text}</p>
        </div>
        <div className="row">
          <FromFile />
          <Button look="primary" onClick={() => setCreating(true)}>
            <Plus size={17} aria-hidden="true" />
            {t.create}
          </Button>
        </div>
      </header>
      {assistants.isPending && <Skeleton lines={4} height={64} />}
      {assistants.isError && <Problem error={assistants.error} onRetry={() => void assistants.refetch()} />}
      {assistants.data?.length === 0 && (
        <Empty icon={<Bot size={32} aria-hidden="true" />} title={t.none} text={t.noneText}>
          <Button look="primary" onClick={() => setCreating(true)}>
            {t.create}
          </Button>
        </Empty>
      )}
      <ul className="grid">
        {assistants.data?.map((assistant) => (
          <li key={assistant.assistant_id}>
            <Link
              to="/console/assistants/$assistantId"
              params={{ assistantId: assistant.assistant_id }}
              className="tile"
            >
              <div className="tile-head">
                <Face name={assistant.name} size={34} />
                <h2 className="grow truncate" title={assistant.name}>
                  {assistant.name}
                </h2>
                {(assistant.config[configKey.accessMode] ?? 'authenticated') !== 'authenticated' && (
                  <span className="badge badge-accent">{t.public}</span>
                )}
              </div>
              <p className="muted small clamp">
                {assistant.config[configKey.description] || assistant.config[configKey.systemMessage] || t.noneText}
              </p>
              <p className="muted small">{t.updated(formatAgo(assistant.updated_at))}</p>
            </Link>
          </li>
        ))}
      </ul>
      {isCreating && <CreateDialog onClose={() => setCreating(false)} />}
    </div>
  )
}

function CreateDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  const [instructions, setInstructions] = useState('')
  const navigate = useNavigate()
  const form = useSubmit(async () => {
    const config = instructions.trim() === '' ? {} : { [configKey.systemMessage]: instructions }
    const { assistant_id: assistantId } = await unwrap(
      api.POST('/assistants/', { body: { name: name.trim(), config } }),
    )
    await queryClient.invalidateQueries({ queryKey: keys.assistants })
    await navigate({ to: '/console/assistants/$assistantId', params: { assistantId } })
  })
  return (
    <Dialog title={t.create} onClose={onClose}>
      <form className="form" onSubmit={form.onSubmit}>
        {form.problem && <Notice tone="danger">{form.problem}</Notice>}
        <TextField
          label={texts.name}
          help={t.nameHelp}
          value={name}
          onValue={setName}
          required
          autoFocus
          maxLength={200}
        />
        <TextArea
          label={`${t.instructions} (${texts.optional})`}
          help={t.instructionsHelp}
          placeholder={t.instructionsExample}
          rows={5}
          value={instructions}
          onValue={setInstructions}
        />
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
