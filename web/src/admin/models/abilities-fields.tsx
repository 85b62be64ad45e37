import type { Schemas } from '../../lib/api.ts'
import { operationMessages } from '../../texts/operation.ts'
import { ScrollRegion } from '../../ui/scroll-region.tsx'
import type { ModelServer } from './use-models.ts'

const t = operationMessages.models

type Model = Schemas['ModelServerRequest']['models'][number]

const abilities = ['pictures', 'tools', 'json', 'thinking'] as const

interface AbilitiesFieldsProps {
  models: Model[]
  /** What the service knows of them. */
  known: ModelServer['models']
  onChange: (id: string, change: Partial<Model>) => void
}

/** What operators say of each model in place of what is known: its window, and what it can do. */
export function AbilitiesFields({ models, known, onChange }: AbilitiesFieldsProps) {
  return (
    <details>
      <summary>{t.abilities}</summary>
      <p className="muted small">{t.abilitiesHelp}</p>
      <ScrollRegion label={t.abilities}>
        <table className="table">
          <thead>
            <tr>
              <th>{t.model}</th>
              <th>{t.windowField}</th>
              {abilities.map((name) => (
                <th key={name}>{t.abilityNames[name]}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {models.map((model) => {
              const facts = known.find(({ id }) => id === model.id)
              return (
                <tr key={model.id}>
                  <td className="break">{model.id}</td>
                  <td>
                    <input
                      className="input price"
                      type="number"
                      min={256}
                      max={100_000_000}
                      aria-label={t.windowOf(model.id)}
                      value={model.context_tokens ?? ''}
                      onChange={(event) => onChange(model.id, windowIn(event.target.value))}
                    />
                  </td>
                  {abilities.map((name) => (
                    <td key={name}>
                      <select
                        className="input"
                        aria-label={t.abilityOf(t.abilityNames[name], model.id)}
                        value={shown(model[name])}
                        onChange={(event) => onChange(model.id, { [name]: said(event.target.value) })}
                      >
                        <option value="">
                          {t.asKnown(String(facts?.set.includes(name) ? undefined : facts?.[name]))}
                        </option>
                        <option value="yes">{t.yes}</option>
                        <option value="no">{t.no}</option>
                      </select>
                    </td>
                  ))}
                </tr>
              )
            })}
          </tbody>
        </table>
      </ScrollRegion>
    </details>
  )
}

function windowIn(text: string): Partial<Model> {
  return { context_tokens: text === '' ? undefined : Number(text) }
}

function shown(ability: boolean | null | undefined): string {
  if (ability === undefined || ability === null) return ''
  return ability ? 'yes' : 'no'
}

/** Null takes back what was said. */
function said(text: string): boolean | null {
  return text === '' ? null : text === 'yes'
}
