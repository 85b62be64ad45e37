import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Schemas, api, keys, unwrap } from '../lib/api.ts'
import { formatCost, formatTokens } from '../lib/format.ts'
import { texts } from '../texts/index.ts'
import { SelectField, TextField } from './field.tsx'

const t = texts.modelPicker
type Listed = Schemas['ModelList']['models'][number]

export const useModels = () => useQuery({ queryKey: keys.models, queryFn: () => unwrap(api.GET('/user/models')) })

/** The choice that leads to a free text. */
const other = '\n'

interface ModelPickerProps {
  /** Empty: the default model of the service. */
  value: string
  onValue: (model: string) => void
  help?: string
}

/** A model among those that are served, with window and price; any other by its name. */
export function ModelPicker({ value, onValue, help }: ModelPickerProps) {
  const models = useModels().data?.models ?? []
  const isListed = value === '' || models.some(({ id }) => id === value)
  const [wantsOther, setOther] = useState(false)
  const isOther = wantsOther || !isListed
  return (
    <>
      <SelectField
        label={t.label}
        help={help}
        value={isOther ? other : value}
        onValue={(model) => {
          setOther(model === other)
          onValue(model === other ? '' : model)
        }}
      >
        <ModelOptions models={models} />
        <option value={other}>{t.other}</option>
      </SelectField>
      {isOther && <TextField label={t.otherName} help={t.otherHelp} maxLength={200} value={value} onValue={onValue} />}
    </>
  )
}

/** The default first, then the others with what is known of them. */
export function ModelOptions({ models, isShort = false }: { models: Listed[]; isShort?: boolean }) {
  return (
    <>
      {!isShort && <option value="">{t.default(models[0]?.id ?? '…')}</option>}
      {models.map((model) => (
        <option key={model.id} value={model.id}>
          {isShort ? model.id : [model.id, ...factsOf(model)].join(' · ')}
        </option>
      ))}
    </>
  )
}

function factsOf({ context_tokens: window, prices }: Listed): string[] {
  return [
    t.window(formatTokens(window)),
    ...(prices ? [t.price(formatCost(prices.input, prices.currency), formatCost(prices.output, prices.currency))] : []),
  ]
}
