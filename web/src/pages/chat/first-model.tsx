import '../../styles/first-model.css'
import { useQuery } from '@tanstack/react-query'
import { Cpu, KeyRound, Link2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { AdminApi } from '../../lib/admin-api.ts'
import { type Schemas, keys, queryClient, unwrap, useConsoleSettings, wordsOf } from '../../lib/api.ts'
import { localOperator } from '../../lib/local-page.ts'
import { newId } from '../../lib/new-id.ts'
import { type ProviderKind, exampleUrls } from '../../lib/provider-kinds.ts'
import { say } from '../../lib/toasts.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { firstMessages } from '../../texts/first.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'

const t = firstMessages
const laterKey = 'assistant-platform.model-later'

/** Where the usual model servers listen, as `npm start` looks for them. */
const usualServers = [
  ['Ollama', 'http://127.0.0.1:11434/v1'],
  ['LM Studio', 'http://127.0.0.1:1234/v1'],
  ['vLLM', 'http://127.0.0.1:8000/v1'],
  ['llama.cpp', 'http://127.0.0.1:8080/v1'],
] as const

interface Provider {
  name: string
  kind: ProviderKind
  url: string
  /** What its keys begin with. */
  prefix?: string
}

const providers: Provider[] = [
  { name: 'OpenAI', kind: 'openai-compatible', url: exampleUrls['openai-responses'], prefix: 'sk-' },
  { name: 'Anthropic', kind: 'anthropic', url: exampleUrls.anthropic, prefix: 'sk-ant-' },
  { name: 'Google Gemini', kind: 'google', url: exampleUrls.google, prefix: 'AIza' },
  { name: 'Mistral', kind: 'mistral', url: exampleUrls.mistral },
  { name: 'DeepSeek', kind: 'deepseek', url: exampleUrls.deepseek },
  { name: 'xAI', kind: 'xai', url: exampleUrls.xai, prefix: 'xai-' },
  { name: 'OpenRouter', kind: 'openai-compatible', url: 'https://openrouter.ai/api/v1', prefix: 'sk-or-' },
  { name: 'Groq', kind: 'openai-compatible', url: 'https://api.groq.com/openai/v1', prefix: 'gsk_' },
]

interface Server {
  name: string
  kind: ProviderKind
  url: string
  apiKey?: string
}

type Models = Schemas['ModelServerRequest']['models']

/** In a new chat while no model is connected: three ways to connect one, each with its field; all can be put off. */
export function FirstModel() {
  const isLocal = useConsoleSettings()?.local_page
  const right = useQuery({
    queryKey: ['local-operator'],
    enabled: isLocal === true,
    staleTime: Infinity,
    queryFn: async () => (await localOperator()) ?? null,
  })
  const [isLater, setLater] = useState(() => localStorage.getItem(laterKey) !== null)
  if (isLocal === undefined || (isLocal && right.isPending)) return undefined
  const show = (isShown: boolean) => {
    if (isShown) localStorage.removeItem(laterKey)
    else localStorage.setItem(laterKey, 'true')
    setLater(!isShown)
  }
  if (!right.data)
    return (
      <div className="new-chat-notes">
        <Notice>
          {t.text} {t.ofOperator} <a href="/admin/#models">{t.open}</a>
        </Notice>
      </div>
    )
  if (isLater)
    return (
      <div className="first-model-again">
        <button type="button" className="link-button" onClick={() => show(true)}>
          {t.title}
        </button>
      </div>
    )
  return (
    <section className="first-model" aria-label={t.title}>
      <p className="first-model-text">
        {t.text}{' '}
        <button type="button" className="link-button" onClick={() => show(false)}>
          {t.later}
        </button>
      </p>
      <div className="first-model-tiles">
        <OnThisMachine admin={right.data} />
        <WithKey admin={right.data} />
        <AtAddress admin={right.data} />
      </div>
    </section>
  )
}

function Tile({ icon, title, text, children }: { icon: ReactNode; title: string; text: string; children: ReactNode }) {
  return (
    <div className="first-model-tile" role="group" aria-label={title}>
      <h2>
        {icon}
        {title}
      </h2>
      <p className="muted small">{text}</p>
      {children}
    </div>
  )
}

function OnThisMachine({ admin }: { admin: AdminApi }) {
  const settings = useQuery({ queryKey: ['admin', 'models'], queryFn: () => unwrap(admin.GET('/admin/models')) })
  const [seen, setSeen] = useState<Server[]>([])
  const [isNone, setNone] = useState(false)
  const connecting = useConnecting(admin)
  const looking = useSubmit(async () => {
    const answers = await Promise.all(
      usualServers.map(async ([name, url]) => {
        const { data } = await admin.POST('/admin/models/look', { body: { base_url: url } })
        return data?.models.length ? [{ name, kind: 'openai-compatible' as const, url: data.base_url ?? url }] : []
      }),
    )
    setSeen(answers.flat())
    setNone(answers.flat().length === 0)
  })
  const atStart = (settings.data?.servers ?? [])
    .filter(({ source, base_url: url }) => source === 'found' && url !== null)
    .map(({ name, kind, base_url: url }): Server => ({ name, kind, url: url ?? '' }))
  const found = [...atStart, ...seen.filter(({ url }) => !atStart.some((one) => one.url === url))]
  return (
    <Tile icon={<Cpu size={17} aria-hidden="true" />} title={t.here} text={found.length > 0 ? t.hereFound : t.hereNone}>
      {found.length > 0 && !connecting.choice && (
        <div className="stack-small">
          {found.map((server) => (
            <Button
              key={server.url}
              look="primary"
              wide
              busy={connecting.isBusy && connecting.server?.url === server.url}
              onClick={() => void connecting.look(server)}
            >
              {t.use(server.name)}
            </Button>
          ))}
        </div>
      )}
      {found.length === 0 && (
        <Button wide busy={looking.isBusy} onClick={() => void looking.submit()}>
          {t.look}
        </Button>
      )}
      <div aria-live="polite">{isNone && found.length === 0 && <p className="muted small">{t.stillNone}</p>}</div>
      <Outcome connecting={connecting} problem={looking.problem} />
    </Tile>
  )
}

function WithKey({ admin }: { admin: AdminApi }) {
  const [name, setName] = useState(providers[0]?.name ?? '')
  const [key, setKey] = useState('')
  const connecting = useConnecting(admin)
  const write = (next: string) => {
    setKey(next)
    const begins = ({ prefix }: Provider) => prefix !== undefined && next.startsWith(prefix)
    const [known] = providers.filter(begins).toSorted((a, b) => (b.prefix?.length ?? 0) - (a.prefix?.length ?? 0))
    if (known && key === '') setName(known.name)
  }
  const provider = providers.find((one) => one.name === name)
  return (
    <Tile icon={<KeyRound size={17} aria-hidden="true" />} title={t.key} text={t.keyText}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          if (provider) void connecting.look({ ...provider, apiKey: key.trim() })
        }}
      >
        <SelectField label={t.provider} value={name} onValue={setName}>
          {providers.map((one) => (
            <option key={one.name}>{one.name}</option>
          ))}
        </SelectField>
        <TextField
          label={t.keyField}
          type="password"
          autoComplete="off"
          required
          maxLength={2000}
          value={key}
          onValue={write}
        />
        {!connecting.choice && (
          <Button type="submit" wide busy={connecting.isBusy}>
            {t.connect}
          </Button>
        )}
      </form>
      <Outcome connecting={connecting} />
    </Tile>
  )
}

function AtAddress({ admin }: { admin: AdminApi }) {
  const [url, setUrl] = useState('')
  const [key, setKey] = useState('')
  const connecting = useConnecting(admin)
  return (
    <Tile icon={<Link2 size={17} aria-hidden="true" />} title={t.other} text={t.otherText}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          const server = { name: URL.canParse(url) ? new URL(url).host : url, kind: 'openai-compatible' as const, url }
          void connecting.look({ ...server, ...(key && { apiKey: key.trim() }) })
        }}
      >
        <TextField
          label={t.address}
          type="url"
          required
          maxLength={2000}
          placeholder="http://…/v1"
          value={url}
          onValue={setUrl}
        />
        <TextField
          label={t.keyOptional}
          type="password"
          autoComplete="off"
          maxLength={2000}
          value={key}
          onValue={setKey}
        />
        {!connecting.choice && (
          <Button type="submit" wide busy={connecting.isBusy}>
            {t.connect}
          </Button>
        )}
      </form>
      <Outcome connecting={connecting} />
    </Tile>
  )
}

/** What came of an attempt: a problem, or the choice among the models of the server. */
function Outcome({ connecting, problem }: { connecting: Connecting; problem?: string | undefined }) {
  const { choice } = connecting
  const said = problem ?? connecting.problem
  return (
    <>
      {said && <Notice tone="danger">{said}</Notice>}
      {choice && (
        <form
          className="form"
          onSubmit={(event) => {
            event.preventDefault()
            void connecting.use()
          }}
        >
          <SelectField label={t.answers} autoFocus value={choice.model} onValue={connecting.choose}>
            {choice.models.map(({ id }) => (
              <option key={id}>{id}</option>
            ))}
          </SelectField>
          <Button type="submit" look="primary" wide busy={connecting.isBusy}>
            {t.useModel}
          </Button>
        </form>
      )}
    </>
  )
}

type Connecting = ReturnType<typeof useConnecting>

/** Asks a server for its models, and stores it: at once if it has one, else when one was chosen. */
function useConnecting(admin: AdminApi) {
  const [server, setServer] = useState<Server>()
  const [choice, setChoice] = useState<{ models: Models; model: string }>()
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string>()
  const store = async ({ name, kind, url, apiKey }: Server, models: Models, model: string) => {
    const path = { server_id: newId() }
    // The first one is the default of the service.
    const ordered = [...models.filter(({ id }) => id === model), ...models.filter(({ id }) => id !== model)]
    const body = { name, kind, base_url: url, models: ordered, ...(apiKey && { api_key: apiKey }) }
    await unwrap(admin.PUT('/admin/models/servers/{server_id}', { params: { path }, body }))
    say(t.connected(model))
    await queryClient.invalidateQueries({ queryKey: keys.models })
  }
  const look = async (given: Server) => {
    const { kind, url, apiKey } = given
    const body = { kind, base_url: url, ...(apiKey && { api_key: apiKey }) }
    const served = await unwrap(admin.POST('/admin/models/look', { body }))
    const chatting = served.models.filter(({ seems_to_chat: chats }) => chats)
    const models = (chatting.length > 0 ? chatting : served.models).map(({ id, context_tokens: window }) => ({
      id,
      ...(window === null ? {} : { context_tokens: window }),
    }))
    const [first] = models
    if (first === undefined) throw new Error(t.noModels)
    const known = { ...given, url: served.base_url ?? url }
    setServer(known)
    if (models.length === 1) await store(known, models, first.id)
    else setChoice({ models, model: first.id })
  }
  const attempt = async (work: () => Promise<void>) => {
    setBusy(true)
    setProblem(undefined)
    try {
      await work()
    } catch (error) {
      setProblem(wordsOf(error, texts.offline))
    } finally {
      setBusy(false)
    }
  }
  return {
    server,
    choice,
    isBusy,
    problem,
    choose: (model: string) => setChoice((now) => now && { ...now, model }),
    look: (given: Server) => {
      setServer(given)
      setChoice(undefined)
      return attempt(() => look(given))
    },
    use: () =>
      attempt(async () => {
        if (server && choice) await store(server, choice.models, choice.model)
      }),
  }
}
