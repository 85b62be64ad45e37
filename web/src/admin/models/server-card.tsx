import { useState } from 'react'
import type { AdminApi } from '../../lib/admin-api.ts'
import { unwrap } from '../../lib/api.ts'
import { formatTokens } from '../../lib/format.ts'
import { kindNames } from '../../lib/provider-kinds.ts'
import { texts } from '../../texts/index.ts'
import { operationMessages } from '../../texts/operation.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import type { ServerDraft } from './server-dialog.tsx'
import { TrialDialog } from './trial-dialog.tsx'
import { type ModelServer, keepSettings } from './use-models.ts'

const t = operationMessages.models
const shownModels = 8

interface ServerCardProps {
  api: AdminApi
  server: ModelServer
  onEdit: (draft: ServerDraft) => void
}

/** One server with its models. Only what operators stored can be changed. */
export function ServerCard({ api, server, onEdit }: ServerCardProps) {
  const [isAsking, setAsking] = useState(false)
  const [tried, setTried] = useState<string>()
  const [isAll, setAll] = useState(false)
  const path = { server_id: server.server_id }
  const models = isAll ? server.models : server.models.slice(0, shownModels)
  return (
    <div className="card stack-small" role="group" aria-label={server.name}>
      <div className="spread">
        <h2 className="break">{server.name}</h2>
        <span className={`badge ${server.source === 'stored' ? 'badge-accent' : ''}`}>{t.sources[server.source]}</span>
      </div>
      <p className="muted small break">
        {server.kind === 'openai-compatible' ? '' : `${kindNames[server.kind]} · `}
        {server.base_url ?? t.openAi} · {keyWords(server)}
      </p>
      {server.key === 'unreadable' && <Notice tone="danger">{t.keyUnreadable}</Notice>}
      {server.models.length === 0 && (
        <p className="muted small">{server.source === 'demo' ? t.demoServer : t.anyModel}</p>
      )}
      <ul>
        {models.map(({ id, context_tokens: window, ...facts }) => (
          <li key={id} className="model-row">
            <span className="break">
              {id}
              <span className="muted small">{factsOf(facts)}</span>
            </span>
            <span className="muted small nowrap">{window === null ? '' : t.window(formatTokens(window))}</span>
            <Button size="small" onClick={() => setTried(id)}>
              {t.try}
              <span className="visually-hidden">: {id}</span>
            </Button>
          </li>
        ))}
      </ul>
      {server.models.length > models.length && (
        <div>
          <Button size="small" look="ghost" onClick={() => setAll(true)}>
            {t.showAll(server.models.length)}
          </Button>
        </div>
      )}
      <div className="row">
        {server.source === 'stored' && (
          <>
            <Button size="small" onClick={() => onEdit({ server })}>
              {texts.edit}
            </Button>
            <Button size="small" look="danger" onClick={() => setAsking(true)}>
              {t.remove}
            </Button>
          </>
        )}
        {server.source === 'found' && (
          <Button
            size="small"
            look="primary"
            onClick={() => onEdit({ name: server.name, baseUrl: server.base_url ?? '' })}
          >
            {t.useFound}
          </Button>
        )}
        {server.models.length === 0 && (
          <Button size="small" onClick={() => setTried('')}>
            {t.try}
          </Button>
        )}
      </div>
      {tried !== undefined && (
        <TrialDialog api={api} server={server} model={tried} onClose={() => setTried(undefined)} />
      )}
      {isAsking && (
        <ConfirmDialog
          title={t.removeTitle}
          text={t.removeText(server.name)}
          action={t.remove}
          onConfirm={async () =>
            keepSettings(await unwrap(api.DELETE('/admin/models/servers/{server_id}', { params: { path } })))
          }
          onClose={() => setAsking(false)}
        />
      )}
    </div>
  )
}

type Facts = Pick<ModelServer['models'][number], 'pictures' | 'tools' | 'thinking' | 'json' | 'listed_price' | 'learnt'>

/** What the model can do, as far as that is known, and how its requests are written since it refused others. */
function factsOf({ pictures, tools, thinking, json, listed_price: price, learnt }: Facts): string {
  const known = [
    ...(pictures === null ? [] : [pictures ? t.pictures : t.noPictures]),
    ...(tools === null ? [] : [tools ? t.tools : t.noTools]),
    ...(json === false ? [t.noJson] : []),
    ...(thinking === null ? [] : [thinking ? t.thinks : t.thinksNot]),
    ...(price === null ? [] : [t.byList(price.input, price.output)]),
    ...(learnt.length === 0 ? [] : [t.learnt(learnt.join(', '))]),
  ]
  return known.map((fact) => ` · ${fact}`).join('')
}

function keyWords({ key, key_hint: hint }: Pick<ModelServer, 'key' | 'key_hint'>): string {
  if (key !== 'set') return t.keys[key]
  return hint === '' ? t.keySet : t.keySetAs(hint)
}
