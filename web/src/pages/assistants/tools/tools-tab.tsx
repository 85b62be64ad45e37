import '../../../styles/tools.css'
import { useQuery } from '@tanstack/react-query'
import { Plug } from 'lucide-react'
import { useState } from 'react'
import { type Schemas, api, configKey, keys, unwrap, wordsOf } from '../../../lib/api.ts'
import type { DraftState } from '../../../lib/draft.ts'
import { say } from '../../../lib/toasts.ts'
import { assistantMessages } from '../../../texts/assistant.ts'
import { texts } from '../../../texts/index.ts'
import { ConfirmDialog } from '../../../ui/dialog.tsx'
import { Loading } from '../../../ui/states.tsx'
import { type ToolSetting, kindOf, titleOf } from './kinds.tsx'
import { ToolPanel } from './tool-panel.tsx'
import { ToolRow } from './tool-row.tsx'

const t = assistantMessages.tools

/** What is open: the tool at a place of the list; behind its end, a new one. */
interface Opened {
  place: number
  setting: ToolSetting
  testsAtOnce: boolean
}

/** The tools of an assistant, each a row, and the kinds that can be added, each a card. What is changed is saved. */
export function ToolsTab({ assistantId, state }: { assistantId: string; state: DraftState }) {
  const catalogue = useQuery({ queryKey: keys.tools, queryFn: () => unwrap(api.GET('/tools/')) })
  const [opened, setOpened] = useState<Opened>()
  const [removed, setRemoved] = useState<number>()
  const [isSaving, setSaving] = useState(false)
  const tools = state.draft.config[configKey.tools] ?? []
  const setTools = (next: ToolSetting[]) =>
    state.saveConfig(configKey.tools, next.length === 0 ? undefined : next.map(withoutEmpty))
  const ask = async (place: number, isAsking: boolean) => {
    if (isSaving) return
    setSaving(true)
    try {
      await setTools(tools.map((tool, other) => (other === place ? { ...tool, ask: isAsking } : tool)))
    } catch (error) {
      say(wordsOf(error, texts.offline), 'danger')
    } finally {
      setSaving(false)
    }
  }
  if (!catalogue.isSuccess) return <Loading query={catalogue} lines={5} />
  const described = (type: ToolSetting['type']) => catalogue.data.find((entry) => entry.type === type)
  const toRemove = removed === undefined ? undefined : tools[removed]
  return (
    <div className="stack">
      <p className="muted">{tools.length === 0 ? t.none : t.text}</p>
      {tools.length > 0 && (
        <ul className="file-list" aria-label={t.list}>
          {tools.map((setting, place) => (
            <ToolRow
              key={place}
              setting={setting}
              isAvailable={described(setting.type)?.available !== false}
              asksAnyway={state.draft.config[configKey.approval] === true}
              onAsk={(isAsking) => void ask(place, isAsking)}
              onEdit={() => setOpened({ place, setting, testsAtOnce: false })}
              onTest={() => setOpened({ place, setting, testsAtOnce: true })}
              onRemove={() => setRemoved(place)}
            />
          ))}
        </ul>
      )}
      <section className="stack-small" aria-labelledby="add-tool">
        <h2 id="add-tool">{t.add}</h2>
        <div className="grid">
          {catalogue.data.map((entry) => (
            <ToolCard
              key={entry.type}
              described={entry}
              isThere={tools.some(({ type }) => type === entry.type)}
              onAdd={() => setOpened({ place: tools.length, setting: { type: entry.type }, testsAtOnce: false })}
            />
          ))}
        </div>
      </section>
      <section className="stack-small" aria-labelledby="mcp-gallery">
        <h2 id="mcp-gallery">{t.gallery.title}</h2>
        <p className="muted small">{t.gallery.text}</p>
        <div className="grid">
          {mcpPresets.map(({ name, title, text, url, hasLogin }) => (
            <button
              key={name}
              type="button"
              className="tile tool-card"
              onClick={() => {
                const setting: ToolSetting = { type: 'mcp', config: { name, url } }
                setOpened({ place: tools.length, setting, testsAtOnce: false })
              }}
            >
              <span className="tile-head">
                <Plug size={18} aria-hidden="true" />
                <strong>{title}</strong>
              </span>
              <span className="muted small">{text}</span>
              <span className="muted small">{hasLogin ? t.gallery.login : t.gallery.open}</span>
            </button>
          ))}
        </div>
      </section>
      {opened && (
        <ToolPanel
          {...opened}
          assistantId={assistantId}
          isNew={opened.place >= tools.length}
          schema={described(opened.setting.type)?.config_schema ?? {}}
          onSave={(setting) => setTools(tools.toSpliced(opened.place, 1, setting))}
          onClose={() => setOpened(undefined)}
        />
      )}
      {toRemove && (
        <ConfirmDialog
          title={t.removeTitle}
          text={t.removeText(titleOf(toRemove))}
          action={t.remove}
          onConfirm={() => setTools(tools.filter((_, place) => place !== removed))}
          onClose={() => setRemoved(undefined)}
          onDone={() => say(t.removed(titleOf(toRemove)))}
        />
      )}
    </div>
  )
}

interface CardProps {
  described: Schemas['ToolDescription']
  isThere: boolean
  onAdd: () => void
}

/** A kind of tool. What cannot be added can still be reached with the keyboard, and says why. */
function ToolCard({ described: { type, description, available }, isThere, onAdd }: CardProps) {
  const { Icon, text, isSingle, notSetUp } = kindOf(type)
  const reason = available ? (isSingle && isThere ? t.once : undefined) : (notSetUp ?? t.notSetUp)
  return (
    <button
      type="button"
      className="tile tool-card"
      aria-disabled={reason !== undefined}
      onClick={() => reason === undefined && onAdd()}
    >
      <span className="tile-head">
        <Icon size={18} aria-hidden="true" />
        <strong>{t.names[type]}</strong>
      </span>
      <span className="muted small">{text ?? description}</span>
      {reason !== undefined && <span className="small">{reason}</span>}
    </button>
  )
}

/** As it is stored: without members that say nothing. */
function withoutEmpty({ type, name, config, ask }: ToolSetting): ToolSetting {
  return {
    type,
    ...(name && { name }),
    ...(config && Object.keys(config).length > 0 && { config }),
    ...(ask && { ask }),
  }
}

interface McpPreset {
  /** The name of its tools begins with it. */
  name: string
  title: string
  text: string
  url: string
  /** Whether one logs in with the browser. */
  hasLogin: boolean
}

/** Servers that answer to anybody, or let programs register themselves, as their makers say. */
const mcpPresets: McpPreset[] = [
  { name: 'notion', title: 'Notion', text: t.gallery.notion, url: 'https://mcp.notion.com/mcp', hasLogin: true },
  { name: 'linear', title: 'Linear', text: t.gallery.linear, url: 'https://mcp.linear.app/mcp', hasLogin: true },
  {
    name: 'atlassian',
    title: 'Atlassian',
    text: t.gallery.atlassian,
    url: 'https://mcp.atlassian.com/v1/mcp',
    hasLogin: true,
  },
  { name: 'sentry', title: 'Sentry', text: t.gallery.sentry, url: 'https://mcp.sentry.dev/mcp', hasLogin: true },
  { name: 'stripe', title: 'Stripe', text: t.gallery.stripe, url: 'https://mcp.stripe.com', hasLogin: true },
  {
    name: 'hugging_face',
    title: 'Hugging Face',
    text: t.gallery.huggingFace,
    url: 'https://huggingface.co/mcp',
    hasLogin: false,
  },
  {
    name: 'deepwiki',
    title: 'DeepWiki',
    text: t.gallery.deepwiki,
    url: 'https://mcp.deepwiki.com/mcp',
    hasLogin: false,
  },
  {
    name: 'context7',
    title: 'Context7',
    text: t.gallery.context7,
    url: 'https://mcp.context7.com/mcp',
    hasLogin: false,
  },
]
