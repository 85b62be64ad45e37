import { Link } from '@tanstack/react-router'
import { Bot, Plus } from 'lucide-react'
import { Suspense, useState } from 'react'
import { configKey, useAssistants } from '../../lib/api.ts'
import { formatAgo } from '../../lib/format.ts'
import { useMembership } from '../../lib/membership.ts'
import { useTitle } from '../../lib/use-title.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Face } from '../../ui/face.tsx'
import { lazyPart } from '../../ui/lazy-part.ts'
import { RoleNote } from '../../ui/role-note.tsx'
import { Empty, Loading } from '../../ui/states.tsx'
import { FromFile } from './from-file.tsx'

const CreateDialog = lazyPart(() => import('./create-dialog.tsx'))
const t = texts.assistants

export function Assistants() {
  useTitle(t.title)
  const assistants = useAssistants()
  const { may } = useMembership()
  const canEdit = may('editor')
  const [creating, setCreating] = useState<'blank' | 'example'>()
  return (
    <div className="page">
      <header className="page-head">
        <div>
          <h1>{t.title}</h1>
          <p className="muted">{t.text}</p>
        </div>
        {canEdit && (
          <div className="row">
            <FromFile />
            {assistants.data?.length !== 0 && (
              <Button look="primary" onClick={() => setCreating('blank')}>
                <Plus size={17} aria-hidden="true" />
                {t.create}
              </Button>
            )}
          </div>
        )}
      </header>
      <RoleNote needed="editor" />
      <Loading query={assistants} lines={4} height={64} />
      {assistants.data?.length === 0 && (
        <Empty
          icon={<Bot size={32} aria-hidden="true" />}
          title={t.none}
          {...(canEdit && { example: { text: t.example, onChoose: () => setCreating('example') } })}
        >
          {canEdit && (
            <Button look="primary" onClick={() => setCreating('blank')}>
              {t.create}
            </Button>
          )}
        </Empty>
      )}
      {assistants.data && assistants.data.length > 0 && (
        <ul className="grid">
          {assistants.data.map((assistant) => (
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
      )}
      {creating && (
        <Suspense>
          <CreateDialog isExample={creating === 'example'} onClose={() => setCreating(undefined)} />
        </Suspense>
      )}
    </div>
  )
}
