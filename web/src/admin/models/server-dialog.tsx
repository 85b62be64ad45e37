import { useState } from 'react'
import type { AdminApi } from '../../lib/admin-api.ts'
import { type Schemas, unwrap } from '../../lib/api.ts'
import { formatTokens } from '../../lib/format.ts'
import { newId } from '../../lib/new-id.ts'
import { type ProviderKind, exampleUrls } from '../../lib/provider-kinds.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { texts } from '../../texts/index.ts'
import { operationMessages } from '../../texts/operation.ts'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { CheckField, TextField } from '../../ui/field.tsx'
import { KindField } from '../../ui/kind-field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { AbilitiesFields } from './abilities-fields.tsx'
import { type ModelServer, keepSettings } from './use-models.ts'

const t = operationMessages.models

/** What the dialog begins with: a stored server, or one that was found. */
export interface ServerDraft {
  server?: ModelServer
  name?: string
  baseUrl?: string
}

type Model = Schemas['ModelServerRequest']['models'][number]

interface ServerDialogProps {
  api: AdminApi
  draft: ServerDraft
  onClose: () => void
}

/** Address and key of a server, the models that it lists, and which of them may be used. */
export function ServerDialog({ api, draft: { server, name: givenName, baseUrl }, onClose }: ServerDialogProps) {
  const [name, setName] = useState(server?.name ?? givenName ?? '')
  const [url, setUrl] = useState(server?.base_url ?? baseUrl ?? '')
  const [kind, setKind] = useState<ProviderKind>(server?.kind ?? 'openai-compatible')
  const [key, setKey] = useState('')
  const [isKeyRemoved, setKeyRemoved] = useState(false)
  const [chosen, setChosen] = useState<Model[]>(() => storedModels(server))
  const [found, setFound] = useState<Schemas['ServedModels']['models']>()
  const [other, setOther] = useState('')
  const keepsKey =
    server?.key === 'set' && server.kind === kind && server.base_url === url && key === '' && !isKeyRemoved
  const look = useSubmit(async () => {
    const body = keepsKey ? { server_id: server.server_id } : { kind, base_url: url, ...(key && { api_key: key }) }
    const served = await unwrap(api.POST('/admin/models/look', { body }))
    setUrl(served.base_url ?? url)
    if (name === '') setName(hostOf(served.base_url ?? url))
    setFound(served.models)
    if (chosen.length === 0) setChosen(served.models.filter(({ seems_to_chat: chats }) => chats).map(modelOf))
  })
  const save = useSubmit(async () => {
    const path = { server_id: server?.server_id ?? newId() }
    const body = { name, kind, base_url: url, models: chosen, ...keyChange({ key, isKeyRemoved }) }
    keepSettings(await unwrap(api.PUT('/admin/models/servers/{server_id}', { params: { path }, body })))
    onClose()
  })
  const listed: Model[] = [...(found ?? []).map(modelOf), ...chosen.filter(({ id }) => !isIn(id, found ?? []))]
  return (
    <FormDialog
      wide
      title={server ? t.editTitle : t.add}
      action={texts.save}
      form={save}
      disabled={chosen.length === 0}
      onClose={onClose}
    >
      <KindField
        label={texts.providerKind}
        value={kind}
        onValue={(chosen) => {
          if (url === '' || url === exampleUrls[kind]) setUrl(chosen === 'openai-compatible' ? '' : exampleUrls[chosen])
          setKind(chosen)
        }}
      />
      <TextField
        label={t.address}
        help={t.addressHelp}
        type="url"
        required
        autoFocus
        maxLength={2000}
        placeholder={exampleUrls[kind]}
        value={url}
        onValue={setUrl}
      />
      <TextField
        label={t.key}
        help={keepsKey ? t.keyKept : t.keyHelp}
        type="password"
        autoComplete="off"
        maxLength={2000}
        value={key}
        onValue={setKey}
      />
      {server?.key === 'set' && <CheckField label={t.noKey} checked={isKeyRemoved} onValue={setKeyRemoved} />}
      <div>
        <Button busy={look.isBusy} disabled={url === ''} onClick={() => void look.submit()}>
          {t.look}
        </Button>
      </div>
      {look.problem && <Notice tone="danger">{look.problem}</Notice>}
      <TextField label={texts.name} help={t.nameHelp} required maxLength={100} value={name} onValue={setName} />
      <fieldset className="stack-small">
        {listed.length > 0 && <legend className="field-label">{t.modelsOf(chosen.length)}</legend>}
        {listed.length > 0 && (
          <div className="model-list" role="group" aria-label={t.modelsOf(chosen.length)} tabIndex={0}>
            {listed.map((model) => (
              <CheckField
                key={model.id}
                label={labelOf(model)}
                checked={isIn(model.id, chosen)}
                onValue={(isChosen) =>
                  setChosen(isChosen ? [...chosen, model] : chosen.filter(({ id }) => id !== model.id))
                }
              />
            ))}
          </div>
        )}
        <div className="search-form">
          <TextField
            label={t.otherModel}
            placeholder={t.otherModelHelp}
            maxLength={200}
            value={other}
            onValue={setOther}
          />
          <Button
            disabled={other.trim() === '' || isIn(other.trim(), chosen)}
            onClick={() => {
              setChosen([...chosen, { id: other.trim() }])
              setOther('')
            }}
          >
            {t.addModel}
          </Button>
        </div>
      </fieldset>
      {chosen.length > 0 && (
        <AbilitiesFields
          models={chosen}
          known={server?.models ?? []}
          onChange={(id, change) =>
            setChosen(chosen.map((model) => (model.id === id ? { ...model, ...change } : model)))
          }
        />
      )}
    </FormDialog>
  )
}

function keyChange({ key, isKeyRemoved }: { key: string; isKeyRemoved: boolean }): { api_key?: string | null } {
  if (isKeyRemoved) return { api_key: null }
  return key === '' ? {} : { api_key: key }
}

function storedModels(server: ModelServer | undefined): Model[] {
  return (server?.models ?? []).map(({ id, provider_model: own, context_tokens: window, set, ...facts }) => ({
    id,
    ...(own === id ? {} : { provider_model: own }),
    ...(window === null ? {} : { context_tokens: window }),
    ...Object.fromEntries(set.map((name) => [name, facts[name]])),
  }))
}

function modelOf({ id, context_tokens: window }: Schemas['ServedModels']['models'][number]): Model {
  return { id, ...(window === null ? {} : { context_tokens: window }) }
}

function labelOf({ id, context_tokens: window }: Model): string {
  return window === undefined ? id : `${id} · ${t.window(formatTokens(window))}`
}

function isIn(wanted: string, models: { id: string }[]): boolean {
  return models.some(({ id }) => id === wanted)
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : ''
}
