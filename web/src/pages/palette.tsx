import '../styles/palette.css'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useId, useState } from 'react'
import { useAssistants } from '../lib/api.ts'
import { composes } from '../lib/composes.ts'
import { useFoundThreads } from '../lib/found-threads.ts'
import { setTheme } from '../lib/theme.ts'
import { texts } from '../texts/index.ts'
import { Dialog } from '../ui/dialog.tsx'

const t = texts.nav

interface Entry {
  key: string
  kind: keyof typeof t.kinds
  label: string
  go: () => unknown
}

/** More are found by more letters. */
const mostOfAKind = 8

/** Finds chats, assistants, pages and actions by their names, with the keyboard alone. */
export function Palette({ onClose, onHelp }: { onClose: () => void; onHelp: () => void }) {
  const [words, setWords] = useState('')
  const [place, setPlace] = useState(0)
  const listId = useId()
  const entries = useEntries(words, onHelp)
  const chosen = Math.min(place, entries.length - 1)
  const run = (entry: Entry | undefined) => {
    if (!entry) return
    onClose()
    entry.go()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && entries.length > 0) setPlace((chosen + step + entries.length) % entries.length)
    else if (event.key === 'Enter' && !composes(event.nativeEvent)) run(entries[chosen])
    else return
    event.preventDefault()
  }
  return (
    <Dialog title={t.palette} onClose={onClose}>
      <div className="palette">
        <input
          className="input"
          role="combobox"
          aria-expanded="true"
          aria-controls={listId}
          aria-activedescendant={entries.length > 0 ? `${listId}-${chosen}` : undefined}
          aria-label={t.palette}
          placeholder={t.paletteHelp}
          value={words}
          onChange={(event) => {
            setWords(event.target.value)
            setPlace(0)
          }}
          onKeyDown={onKeyDown}
        />
        {entries.length === 0 && (
          <p className="muted small" role="status">
            {t.paletteNone}
          </p>
        )}
        <div id={listId} role="listbox" aria-label={t.palette}>
          {entries.map((entry, index) => (
            // The field handles the keys.
            // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
            <div
              key={entry.key}
              id={`${listId}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === chosen}
              ref={index === chosen ? (item) => item?.scrollIntoView({ block: 'nearest' }) : undefined}
              onClick={() => run(entry)}
            >
              <span className="grow truncate">{entry.label}</span>
              <span className="muted small">{t.kinds[entry.kind]}</span>
            </div>
          ))}
        </div>
      </div>
    </Dialog>
  )
}

function useEntries(words: string, onHelp: () => void): Entry[] {
  const navigate = useNavigate()
  const assistants = useAssistants()
  const { found } = useFoundThreads(words)
  const page = (label: string, to: string): Entry => ({ key: to, kind: 'page', label, go: () => navigate({ to }) })
  const action = (label: string, go: () => unknown): Entry => ({ key: label, kind: 'action', label, go })
  const fixed = [
    action(t.newChat, () => navigate({ to: '/console/chat' })),
    page(t.assistants, '/console/assistants'),
    page(t.projects, '/console/projects'),
    page(t.schedules, '/console/schedules'),
    page(t.memory, '/console/memory'),
    page(t.usage, '/console/usage'),
    page(texts.account.settings, '/console/account'),
    page(texts.data.title, '/console/data'),
    page(texts.account.auditLog, '/console/audit'),
    ...(['light', 'dark', 'system'] as const).map((theme) => action(t.themes[theme], () => setTheme(theme))),
    action(t.shortcuts, onHelp),
  ]
  const ofAssistants = (assistants.data ?? []).flatMap(({ assistant_id: id, name }): Entry[] => [
    {
      key: `chat-${id}`,
      kind: 'action',
      label: t.chatWith(name),
      go: () => navigate({ to: '/console/chat', search: { assistant: id } }),
    },
    {
      key: id,
      kind: 'assistant',
      label: name,
      go: () => navigate({ to: '/console/assistants/$assistantId', params: { assistantId: id } }),
    },
  ])
  const chats = found.map(({ thread_id: threadId, name }): Entry => ({
    key: threadId,
    kind: 'chat',
    label: name || texts.chat.untitled,
    go: () => navigate({ to: '/console/chat/$threadId', params: { threadId } }),
  }))
  const wanted = words.trim().toLowerCase()
  const fitting = (all: Entry[]) => all.filter(({ label }) => label.toLowerCase().includes(wanted))
  const some = (all: Entry[]) => all.slice(0, mostOfAKind)
  return [...fitting(fixed), ...some(fitting(ofAssistants)), ...some(chats)]
}

/** The keys that work on every page. */
export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const rows = [
    ['Ctrl K', t.keys.palette],
    ['Ctrl Shift O', t.newChat],
    ['/', t.keys.write],
    ['?', t.keys.help],
  ]
  return (
    <Dialog title={t.shortcuts} onClose={onClose}>
      <dl className="shortcuts">
        {rows.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
