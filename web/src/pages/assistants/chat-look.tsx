import { type ReactNode, useEffect, useRef } from 'react'
import { configKey, useConsoleSettings } from '../../lib/api.ts'
import type { DraftState } from '../../lib/draft.ts'
import { languageName, languages } from '../../lib/language.ts'
import { type Bubble, bubbleAttributes } from '../../lib/snippets.ts'
import { assistantMessages } from '../../texts/assistant.ts'
import { SelectField, TextField } from '../../ui/field.tsx'

const t = assistantMessages.publish
const namesOfLanguages = Object.fromEntries(languages.map((one) => [one, languageName(one)]))
type Look = Bubble['look']

interface ChatLookProps {
  assistantId: string
  state: DraftState
  token: string | undefined
  children: ReactNode
}

/** How the public page and the chat bubble look and speak, with a preview of what is not saved yet. */
export function ChatLook({ assistantId, state: { draft, isChanged, setConfig }, token, children }: ChatLookProps) {
  const { [configKey.chatLook]: look = {}, [configKey.starters]: starters = [] } = draft.config
  const change = (part: { [Key in keyof Look]: Look[Key] | '' }) => {
    const filled = Object.entries({ ...look, ...part }).filter(([, value]) => value !== '')
    setConfig(configKey.chatLook, filled.length === 0 ? undefined : Object.fromEntries(filled))
  }
  return (
    <section className="card form">
      <h2>{t.look}</h2>
      <div className="look">
        <LookFields look={look} onLook={change} />
        <Preview assistantId={assistantId} token={token} bubble={{ look, starters }} />
      </div>
      <p className="muted small">{isChanged ? t.previewUnsaved : t.previewText}</p>
      {children}
    </section>
  )
}

/** The bubble's, where nobody chose another one. */
const ownColor = '#3f5bd9'
const isColor = (text = '') => /^#[\da-f]{6}$/i.test(text)

function LookFields({ look, onLook }: { look: Look; onLook: (part: { [Key in keyof Look]: Look[Key] | '' }) => void }) {
  const product = useConsoleSettings()?.product
  return (
    <div className="form">
      <TextField
        label={t.bubble.title}
        value={look.title ?? ''}
        maxLength={80}
        onValue={(title) => onLook({ title })}
      />
      <TextField
        label={t.bubble.greeting}
        value={look.greeting ?? ''}
        maxLength={300}
        onValue={(greeting) => onLook({ greeting })}
      />
      <div className="look-color">
        <TextField
          label={t.bubble.color}
          help={t.bubble.colorHelp}
          value={look.color ?? ''}
          pattern="#[0-9a-fA-F]{6}"
          onValue={(color) => onLook({ color })}
        />
        <input
          type="color"
          className="input"
          aria-label={t.bubble.chooseColor}
          title={t.bubble.chooseColor}
          value={isColor(look.color) ? look.color : (product?.color ?? ownColor)}
          onChange={(event) => onLook({ color: event.target.value })}
        />
      </div>
      <SelectField
        label={t.bubble.theme}
        value={look.theme ?? ''}
        onValue={(theme) => onLook({ theme: theme === 'light' || theme === 'dark' ? theme : '' })}
      >
        <Options of={t.bubble.themes} />
      </SelectField>
      <SelectField
        label={t.bubble.language}
        value={look.language ?? ''}
        onValue={(chosen) => onLook({ language: languages.find((one) => one === chosen) ?? '' })}
      >
        <Options of={{ '': t.bubble.themes[''], ...namesOfLanguages }} />
      </SelectField>
    </div>
  )
}

const Options = ({ of }: { of: Record<string, string> }) =>
  Object.entries(of).map(([value, label]) => (
    <option key={value} value={value}>
      {label}
    </option>
  ))

/** Somebody who types sees the bubble again when the hands rest. */
const restMs = 300

/** The chat bubble itself, on a page of its own. */
function Preview({ assistantId, token, bubble }: { assistantId: string; token: string | undefined; bubble: Bubble }) {
  const frame = useRef<HTMLIFrameElement>(null)
  const product = useConsoleSettings()?.product
  const attributes = JSON.stringify({
    ...bubbleAttributes({ assistantId, token, product, bubble }),
    layout: 'preview',
  })
  const send = () => frame.current?.contentWindow?.postMessage(JSON.parse(attributes), window.location.origin)
  useEffect(() => {
    const timer = setTimeout(send, restMs)
    return () => clearTimeout(timer)
    // What is sent depends on nothing else.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [attributes])
  return <iframe ref={frame} className="look-preview" src="/embed-preview" title={t.preview} onLoad={send} />
}
