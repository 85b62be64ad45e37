import { useState } from 'react'
import { configKey } from '../../lib/api.ts'
import type { DraftState } from '../../lib/draft.ts'
import { startMessages as t } from '../../texts/starts.ts'
import { TextField } from '../../ui/field.tsx'

/** The messages with which chats of an assistant can begin. */
export function StarterFields({ state: { draft, setConfig } }: { state: DraftState }) {
  // An empty field keeps its place while others are written; it is not stored.
  const [lines, setLines] = useState(() => [0, 1, 2, 3].map((place) => draft.config[configKey.starters]?.[place] ?? ''))
  const write = (place: number, text: string) => {
    const next = lines.with(place, text)
    setLines(next)
    const starters = next.map((line) => line.trim()).filter(Boolean)
    setConfig(configKey.starters, starters.length === 0 ? undefined : starters)
  }
  return (
    <div className="card form">
      <div>
        <h2>{t.starters}</h2>
        <p className="muted small">{t.startersHelp}</p>
      </div>
      {lines.map((line, place) => (
        <TextField
          key={place}
          label={t.starter(place + 1)}
          value={line}
          maxLength={200}
          onValue={(text) => write(place, text)}
        />
      ))}
    </div>
  )
}
