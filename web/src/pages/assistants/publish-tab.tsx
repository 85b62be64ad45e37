import '../../styles/publish.css'
import { Eye, EyeOff, KeyRound } from 'lucide-react'
import { Suspense, useId, useState } from 'react'
import { api, configKey, unwrap, wordsOf } from '../../lib/api.ts'
import type { DraftState } from '../../lib/draft.ts'
import { say } from '../../lib/toasts.ts'
import { assistantMessages } from '../../texts/assistant.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/code-block.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { CheckField } from '../../ui/field.tsx'
import { lazyPart } from '../../ui/lazy-part.ts'
import { PublicBudget } from '../budget.tsx'
import { ChatLook } from './chat-look.tsx'
import { PublicPlaces } from './public-places.tsx'

const KeepsChats = lazyPart(() => import('./keeps-chats.tsx'))
const t = assistantMessages.publish
const modes = ['authenticated', 'public_token', 'public_no_auth'] as const

/** Publishing in three steps, which are saved together: who may ask, how the chat looks, where people find it. */
export function PublishTab({ assistantId, state }: { assistantId: string; state: DraftState }) {
  const { draft, set } = state
  const mode = draft.config[configKey.accessMode] ?? 'authenticated'
  const token = mode === 'public_token' ? draft.config[configKey.publicToken] : undefined
  const isPublic = mode !== 'authenticated'
  return (
    <div className="stack steps">
      <section className="card form">
        <h2>{t.access}</h2>
        <Modes assistantId={assistantId} state={state} />
        {(isPublic || draft.public) && (
          <CheckField
            label={t.listed}
            help={t.listedHelp}
            checked={draft.public}
            onValue={(value) => set({ public: value })}
          />
        )}
        {isPublic && (
          <fieldset className="form">
            <legend className="field-label">{texts.budget.title}</legend>
            <p className="muted small">{texts.budget.publicText}</p>
            <PublicBudget assistantId={assistantId} limits={draft.limits} onLimits={(limits) => set({ limits })} />
          </fieldset>
        )}
      </section>
      {isPublic ? (
        <>
          <ChatLook assistantId={assistantId} state={state} token={token}>
            <Suspense>
              <KeepsChats state={state} />
            </Suspense>
          </ChatLook>
          <PublicPlaces assistantId={assistantId} state={state} token={token} />
        </>
      ) : (
        <p className="muted">{t.closed}</p>
      )}
    </div>
  )
}

/** Who may ask, and the token of those who need one. */
function Modes({ assistantId, state }: { assistantId: string; state: DraftState }) {
  const { draft, setConfig } = state
  const id = useId()
  const mode = draft.config[configKey.accessMode] ?? 'authenticated'
  const token = draft.config[configKey.publicToken]
  const makeToken = async () => {
    const path = { params: { path: { aid: assistantId } } }
    const { public_token: fresh } = await unwrap(api.POST('/assistants/{aid}/public-token', path))
    state.adopt({ [configKey.publicToken]: fresh })
    return fresh
  }
  const choose = async (next: (typeof modes)[number]) => {
    const setMode = (to: typeof next) => setConfig(configKey.accessMode, to === 'authenticated' ? undefined : to)
    setMode(next)
    if (next !== 'public_token' || token) return
    try {
      // The service accepts this mode only together with a token.
      await makeToken()
    } catch (error) {
      setMode(mode)
      say(wordsOf(error, texts.offline), 'danger')
    }
  }
  return (
    <>
      <fieldset className="form">
        <legend className="visually-hidden">{t.access}</legend>
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
      </fieldset>
      {mode === 'public_token' && <Token token={token} onRenew={makeToken} />}
    </>
  )
}

function Token({ token, onRenew }: { token: string | undefined; onRenew: () => Promise<unknown> }) {
  const [isRenewing, setRenewing] = useState(false)
  const [isShown, setShown] = useState(false)
  return (
    <div className="stack-small">
      <div className="field-label">{t.token}</div>
      <div className="row">
        {token ? (
          <>
            <code className="truncate">{isShown ? token : '•'.repeat(24)}</code>
            <Button size="small" onClick={() => setShown(!isShown)}>
              {isShown ? <EyeOff size={14} aria-hidden="true" /> : <Eye size={14} aria-hidden="true" />}
              {isShown ? t.hideToken : t.showToken}
            </Button>
            <CopyButton text={token} />
          </>
        ) : (
          <span className="muted">{t.noToken}</span>
        )}
        <Button size="small" onClick={() => setRenewing(true)}>
          <KeyRound size={15} aria-hidden="true" />
          {t.newToken}
        </Button>
      </div>
      {isRenewing && (
        <ConfirmDialog
          title={t.newToken}
          text={t.newTokenText}
          action={t.newToken}
          onConfirm={onRenew}
          onClose={() => setRenewing(false)}
        />
      )}
    </div>
  )
}
