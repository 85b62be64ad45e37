import { Eye, EyeOff, KeyRound } from 'lucide-react'
import { Tabs } from 'radix-ui'
import { Suspense, lazy, useId, useState } from 'react'
import { api, configKey, unwrap, useConsoleSettings } from '../../lib/api.ts'
import type { DraftState } from '../../lib/draft.ts'
import { type Bubble, snippetsOf } from '../../lib/snippets.ts'
import { assistantMessages } from '../../texts/assistant.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { CodeBlock, CopyButton } from '../../ui/code-block.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { CheckField } from '../../ui/field.tsx'
import { LinesField } from '../../ui/lines-field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { TabList } from '../../ui/tab-list.tsx'
import { BudgetSettings } from '../budget.tsx'
import { ChatLook } from './chat-look.tsx'

const KeepsChats = lazy(() => import('./keeps-chats.tsx'))
const t = assistantMessages.publish
const modes = ['authenticated', 'public_token', 'public_no_auth'] as const

export function PublishTab({ assistantId, state }: { assistantId: string; state: DraftState }) {
  const { draft, set, setConfig } = state
  const [isRenewing, setRenewing] = useState(false)
  const [isShown, setShown] = useState(false)
  const id = useId()
  const mode = draft.config[configKey.accessMode] ?? 'authenticated'
  const token = draft.config[configKey.publicToken]
  const usedToken = mode === 'public_token' ? token : undefined
  const makeToken = async () => {
    const path = { params: { path: { aid: assistantId } } }
    const { public_token: fresh } = await unwrap(api.POST('/assistants/{aid}/public-token', path))
    state.adopt({ [configKey.publicToken]: fresh })
    return fresh
  }
  const choose = async (next: (typeof modes)[number]) => {
    // The service accepts this mode only together with a token.
    if (next === 'public_token' && !token) await makeToken()
    setConfig(configKey.accessMode, next === 'authenticated' ? undefined : next)
  }
  return (
    <div className="stack">
      <fieldset className="card form">
        <legend className="visually-hidden">{t.access}</legend>
        <h2>{t.access}</h2>
        {modes.map((name) => (
          <div key={name} className="check">
            <input
              type="radio"
              name={`${id}-mode`}
              id={`${id}-${name}`}
              checked={mode === name}
              aria-describedby={`${id}-${name}-help`}
              onChange={() => void choose(name)}
            />
            <div>
              <label htmlFor={`${id}-${name}`}>{t.modes[name][0]}</label>
              <div className="field-help" id={`${id}-${name}-help`}>
                {t.modes[name][1]}
              </div>
            </div>
          </div>
        ))}
        <CheckField
          label={t.listed}
          help={t.listedHelp}
          checked={draft.public}
          onValue={(value) => set({ public: value })}
        />
        <LinesField
          label={t.origins}
          help={t.originsHelp}
          value={draft.config[configKey.origins] ?? []}
          onLines={(lines) => setConfig(configKey.origins, lines.length === 0 ? undefined : lines)}
        />
      </fieldset>
      {mode === 'public_token' && (
        <section className="card stack-small">
          <div className="spread">
            <h2>{t.token}</h2>
            <Button size="small" onClick={() => setRenewing(true)}>
              <KeyRound size={15} aria-hidden="true" />
              {t.newToken}
            </Button>
          </div>
          {token ? (
            <div className="row">
              <code className="truncate">{isShown ? token : '•'.repeat(24)}</code>
              <Button size="small" onClick={() => setShown(!isShown)}>
                {isShown ? <EyeOff size={14} aria-hidden="true" /> : <Eye size={14} aria-hidden="true" />}
                {isShown ? t.hideToken : t.showToken}
              </Button>
              <CopyButton text={token} />
            </div>
          ) : (
            <p className="muted">{t.noToken}</p>
          )}
        </section>
      )}
      {mode === 'authenticated' ? (
        <p className="muted">{t.closed}</p>
      ) : (
        <>
          <section className="card stack-small">
            <h2>{texts.budget.title}</h2>
            <p className="muted">{texts.budget.publicText}</p>
            <BudgetSettings owner={{ assistantId }} />
          </section>
          <Suspense>
            <KeepsChats state={state} />
          </Suspense>
          <ChatLook assistantId={assistantId} state={state} token={usedToken} />
          <Snippets
            assistantId={assistantId}
            token={usedToken}
            hasSites={(draft.config[configKey.origins] ?? []).length > 0}
            bubble={{
              look: draft.config[configKey.chatLook] ?? {},
              starters: draft.config[configKey.starters] ?? [],
            }}
          />
        </>
      )}
      {isRenewing && (
        <ConfirmDialog
          title={t.newToken}
          text={t.newTokenText}
          action={t.newToken}
          onConfirm={makeToken}
          onClose={() => setRenewing(false)}
        />
      )}
    </div>
  )
}

interface SnippetsProps {
  assistantId: string
  token: string | undefined
  /** Sites are named that may use it in the browser. */
  hasSites: boolean
  bubble: Bubble
}

function Snippets({ assistantId, token, hasSites, bubble }: SnippetsProps) {
  const product = useConsoleSettings()?.product
  const snippets = snippetsOf({ baseUrl: window.location.origin, assistantId, token, product, bubble })
  return (
    <section className="card stack-small">
      <h2>{t.snippets}</h2>
      <p className="muted small">{t.snippetsText}</p>
      <Tabs.Root defaultValue="curl">
        <TabList label={t.snippets} tabs={snippets.map(({ name }) => [name, t.snippetNames[name]])} />
        {snippets.map(({ name, text }) => (
          <Tabs.Content key={name} value={name} className="snippet">
            {name === 'embed' && !hasSites && <Notice tone="warn">{t.noSites}</Notice>}
            <CodeBlock text={text} label={t.snippetNames[name]} />
          </Tabs.Content>
        ))}
      </Tabs.Root>
    </section>
  )
}
