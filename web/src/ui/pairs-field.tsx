import { Plus, X } from 'lucide-react'
import { useRef, useState } from 'react'
import type { JsonObject } from '../lib/json.ts'
import { newId } from '../lib/new-id.ts'
import { texts } from '../texts/index.ts'
import { Button, IconButton } from './button.tsx'

const t = texts.form

interface PairsProps {
  label: string
  help: string
  /** Whether values that are stored are not shown; they can be replaced. */
  isSecret: boolean
  value: JsonObject
  onValue: (value: JsonObject) => void
}

interface Row {
  key: string
  name: string
  value: string
  isHidden: boolean
}

const rowOf = (name: string, value: string, isHidden: boolean): Row => ({ key: newId(), name, value, isHidden })

/** Names with values, one a row. */
export function PairsField({ label, help, isSecret, value, onValue }: PairsProps) {
  const [rows, setRows] = useState(() =>
    Object.entries(value).map(([name, text]) => rowOf(name, String(text), isSecret && text !== '')),
  )
  const addButton = useRef<HTMLButtonElement>(null)
  const change = (next: Row[]) => {
    setRows(next)
    const named = next.map(({ name, value: text }): [string, string] => [name.trim(), text])
    onValue(Object.fromEntries(named.filter(([name]) => name !== '')))
  }
  const set = (key: string, part: Partial<Row>) =>
    change(rows.map((row) => (row.key === key ? { ...row, ...part } : row)))
  const isTwice = (name: string) => rows.filter((row) => row.name.trim() === name.trim()).length > 1
  return (
    <fieldset className="pairs">
      <legend className="field-label">{label}</legend>
      {rows.map((row, place) => (
        <div key={row.key} className="pair">
          <input
            ref={(element) =>
              element?.setCustomValidity(row.name.trim() !== '' && isTwice(row.name) ? t.twice(row.name.trim()) : '')
            }
            className="input"
            aria-label={t.nameOf(label, place + 1)}
            placeholder={texts.name}
            value={row.name}
            required={row.value !== ''}
            autoFocus={row.name === '' && row.value === ''}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => set(row.key, { name: event.target.value })}
          />
          {row.isHidden ? (
            <div className="hidden-value">
              <span className="muted" aria-hidden="true">
                ••••••••
              </span>
              <span className="visually-hidden">{t.hidden}</span>
              <Button
                size="small"
                aria-label={t.replaceValue(row.name)}
                onClick={() => set(row.key, { value: '', isHidden: false })}
              >
                {t.replace}
              </Button>
            </div>
          ) : (
            <input
              className="input"
              type={isSecret ? 'password' : 'text'}
              aria-label={t.valueOf(label, place + 1)}
              placeholder={t.value}
              value={row.value}
              autoFocus={isSecret && row.name !== '' && row.value === ''}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => set(row.key, { value: event.target.value })}
            />
          )}
          <IconButton
            label={t.remove(row.name || t.nameOf(label, place + 1))}
            icon={<X size={16} />}
            onClick={() => {
              change(rows.filter(({ key }) => key !== row.key))
              addButton.current?.focus()
            }}
          />
        </div>
      ))}
      <div>
        <Button ref={addButton} size="small" onClick={() => setRows([...rows, rowOf('', '', false)])}>
          <Plus size={14} aria-hidden="true" />
          {t.add}
        </Button>
      </div>
      {help !== '' && <div className="field-help">{help}</div>}
    </fieldset>
  )
}
