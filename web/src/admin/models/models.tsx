import { Plus } from 'lucide-react'
import { useState } from 'react'
import type { AdminApi } from '../../lib/admin-api.ts'
import { operationMessages } from '../../texts/operation.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Loading } from '../../ui/states.tsx'
import { Choices } from './choices.tsx'
import { ServerCard } from './server-card.tsx'
import { type ServerDraft, ServerDialog } from './server-dialog.tsx'
import { useModelSettings } from './use-models.ts'

const t = operationMessages.models

/** The model page: servers, what their models can do, the default model, fallbacks and prices. */
export function Models({ api }: { api: AdminApi }) {
  const settings = useModelSettings(api)
  const [draft, setDraft] = useState<ServerDraft>()
  return (
    <>
      <header className="page-head">
        <div>
          <h1>{t.title}</h1>
          <p className="muted">{t.text}</p>
        </div>
        <Button look="primary" onClick={() => setDraft({})}>
          <Plus size={16} aria-hidden="true" />
          {t.add}
        </Button>
      </header>
      <Loading query={settings} lines={5} height={48} />
      {settings.data && (
        <>
          {settings.data.is_demo && <Notice tone="warn">{t.demo}</Notice>}
          {settings.data.servers.map((server) => (
            <ServerCard key={server.server_id} api={api} server={server} onEdit={setDraft} />
          ))}
          {settings.data.servers.length === 0 && <p className="muted">{t.none}</p>}
          <Choices key={JSON.stringify(settings.data)} api={api} settings={settings.data} />
        </>
      )}
      {draft && <ServerDialog api={api} draft={draft} onClose={() => setDraft(undefined)} />}
    </>
  )
}
