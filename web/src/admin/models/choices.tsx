import { useState } from 'react'
import type { AdminApi } from '../../lib/admin-api.ts'
import { unwrap } from '../../lib/api.ts'
import { say } from '../../lib/toasts.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { texts } from '../../texts/index.ts'
import { operationMessages } from '../../texts/operation.ts'
import { Button } from '../../ui/button.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { ScrollRegion } from '../../ui/scroll-region.tsx'
import { type ModelSettings, keepSettings, modelIds } from './use-models.ts'

const t = operationMessages.models

type ListedPrice = NonNullable<ModelSettings['servers'][number]['models'][number]['listed_price']>

interface ModelChoice {
  /** Another model that answers while it fails; empty: none. */
  fallback: string
  input: string
  /** Empty: as `input`. */
  cached_input: string
  cache_write: string
  output: string
}

/** The default model, fallbacks and prices. What the environment says is shown and cannot be changed. */
export function Choices({ api, settings }: { api: AdminApi; settings: ModelSettings }) {
  const ids = modelIds(settings)
  const listed = listedPrices(settings)
  const [model, setModel] = useState(settings.default_source === 'stored' ? settings.default_model : '')
  const [small, setSmall] = useState(settings.small_source === 'stored' ? (settings.small_model ?? '') : '')
  const [currency, setCurrency] = useState(settings.currency)
  const [minutes, setMinutes] = useState(() => minutesOf(settings))
  const [rows, setRows] = useState(() => choicesOf(settings))
  const isSmallFixed = settings.small_source === 'environment'
  const isDefaultFixed = settings.default_source === 'environment'
  const arePricesFixed = settings.prices_source === 'environment'
  const set = (id: string, part: Partial<ModelChoice>) =>
    setRows({ ...rows, [id]: { ...(rows[id] ?? noChoice), ...part } })
  const form = useSubmit(async () => {
    const models = { default_model: model || null, ...(isSmallFixed ? {} : { small_model: small || null }) }
    const body = { ...models, currency, ...bodyOf(settings, rows), minutes: minutesBody(minutes) }
    keepSettings(await unwrap(api.PUT('/admin/models/choices', { body })))
    say(texts.saved)
  })
  return (
    <section className="card">
      <form className="form" onSubmit={form.onSubmit}>
        <h2>{t.choices}</h2>
        {form.problem && <Notice tone="danger">{form.problem}</Notice>}
        <div className="form-row">
          {isDefaultFixed ? (
            <TextField label={t.default} help={t.fixed('DEFAULT_MODEL')} readOnly value={settings.default_model} />
          ) : (
            <SelectField label={t.default} help={t.defaultHelp} value={model} onValue={setModel}>
              <option value="">
                {settings.default_source === 'stored' || settings.default_model === ''
                  ? t.automatic
                  : t.automaticAs(settings.default_model)}
              </option>
              {ids.map((id) => (
                <option key={id} value={id}>
                  {id}
                </option>
              ))}
            </SelectField>
          )}
          {isSmallFixed ? (
            <TextField label={t.small} help={t.fixed('SMALL_MODEL')} readOnly value={settings.small_model ?? ''} />
          ) : (
            <SelectField label={t.small} help={t.smallHelp} value={small} onValue={setSmall}>
              <option value="">{t.noSmall}</option>
              {ids.map((id) => (
                <option key={id} value={id}>
                  {id}
                </option>
              ))}
            </SelectField>
          )}
          <TextField
            label={t.currency}
            help={arePricesFixed ? t.fixed('MODEL_PRICES') : t.currencyHelp}
            required
            maxLength={10}
            readOnly={arePricesFixed}
            value={currency}
            onValue={setCurrency}
          />
          {minuteKinds.map((kind) => (
            <TextField
              key={kind}
              label={t.minuteOf[kind]}
              help={t.minutesHelp[kind]}
              type="number"
              min={0}
              step="any"
              readOnly={arePricesFixed}
              value={minutes[kind]}
              onValue={(price) => setMinutes({ ...minutes, [kind]: price })}
            />
          ))}
        </div>
        {ids.length > 0 && (
          <ScrollRegion label={t.choices}>
            <table className="table price-table">
              <thead>
                <tr>
                  <th>{t.model}</th>
                  <th>{t.fallback}</th>
                  <th>{t.input}</th>
                  <th>{t.cachedInput}</th>
                  <th>{t.cacheWrite}</th>
                  <th>{t.output}</th>
                </tr>
              </thead>
              <tbody>
                {ids.map((id) => {
                  const row = rows[id] ?? noChoice
                  const isFixed = settings.fallbacks.some((one) => one.model === id && one.source === 'environment')
                  return (
                    <tr key={id}>
                      <td className="break">{id}</td>
                      <td>
                        <select
                          className="input"
                          aria-label={t.fallbackOf(id)}
                          disabled={isFixed}
                          value={row.fallback}
                          onChange={(event) => set(id, { fallback: event.target.value })}
                        >
                          <option value="">{t.noFallback}</option>
                          {ids
                            .filter((other) => other !== id)
                            .map((other) => (
                              <option key={other} value={other}>
                                {other}
                              </option>
                            ))}
                        </select>
                      </td>
                      {priceKinds.map((kind) => (
                        <td key={kind}>
                          <input
                            className="input price"
                            type="number"
                            min={0}
                            step="any"
                            aria-label={t.priceOf(kind, id)}
                            readOnly={arePricesFixed}
                            value={row[kind]}
                            placeholder={listed.get(id)?.[kind]?.toString()}
                            onChange={(event) => set(id, { [kind]: event.target.value })}
                          />
                        </td>
                      ))}
                    </tr>
                  )
                })}
              </tbody>
            </table>
          </ScrollRegion>
        )}
        <p className="muted small">{t.pricesHelp}</p>
        <div>
          <Button type="submit" look="primary" busy={form.isBusy}>
            {texts.save}
          </Button>
        </div>
      </form>
    </section>
  )
}

const minuteKinds = ['recognition', 'code', 'transcription', 'speech'] as const
type Minutes = Record<(typeof minuteKinds)[number], string>

const minutesOf = ({ minutes }: ModelSettings): Minutes => ({
  recognition: String(minutes.recognition ?? ''),
  code: String(minutes.code ?? ''),
  transcription: String(minutes.transcription ?? ''),
  speech: String(minutes.speech ?? ''),
})

const minutesBody = (minutes: Minutes) =>
  Object.fromEntries(minuteKinds.flatMap((kind) => (minutes[kind] === '' ? [] : [[kind, Number(minutes[kind])]])))

const priceKinds = ['input', 'cached_input', 'cache_write', 'output'] as const

const noChoice: ModelChoice = { fallback: '', input: '', cached_input: '', cache_write: '', output: '' }

/** Prices of the list of known models, which count where none is set. */
function listedPrices({ servers, currency, prices }: ModelSettings): Map<string, ListedPrice | undefined> {
  if (currency !== 'usd' || prices.some(({ model }) => model === '*')) return new Map()
  const listed = servers.flatMap(({ models }) => models).toReversed()
  return new Map(listed.map(({ id, listed_price: price }) => [id, price ?? undefined]))
}

function choicesOf({ fallbacks, prices }: ModelSettings): Record<string, ModelChoice> {
  const rows: Record<string, ModelChoice> = {}
  for (const { model, others } of fallbacks) rows[model] = { ...noChoice, fallback: others[0] ?? '' }
  for (const { model, input, cached_input: cached, cache_write: written, output } of prices)
    rows[model] = {
      ...(rows[model] ?? noChoice),
      input: String(input),
      cached_input: String(cached ?? ''),
      cache_write: String(written ?? ''),
      output: String(output),
    }
  return rows
}

/** What this form does not show stays: further fallbacks of a model, and prices of models that no server lists. */
function bodyOf(settings: ModelSettings, rows: Record<string, ModelChoice>) {
  const fallbacks: Record<string, string[]> = {}
  const prices: Record<string, { input: number; cached_input?: number; cache_write?: number; output: number }> = {}
  const ids = new Set(modelIds(settings))
  for (const [id, { fallback, input, cached_input: cached, cache_write: written, output }] of Object.entries(rows)) {
    const known = settings.fallbacks.find(({ model }) => model === id)
    if (fallback && ids.has(id) && known?.source !== 'environment')
      fallbacks[id] = [
        fallback,
        ...(known?.others.slice(1) ?? []).filter((other) => other !== fallback && ids.has(other)),
      ]
    if (input !== '' || output !== '')
      prices[id] = {
        input: Number(input),
        ...(cached === '' ? {} : { cached_input: Number(cached) }),
        ...(written === '' ? {} : { cache_write: Number(written) }),
        output: Number(output),
      }
  }
  return { fallbacks, prices }
}
