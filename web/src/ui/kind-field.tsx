import { type ProviderKind, kindNames } from '../lib/provider-kinds.ts'
import { SelectField } from './field.tsx'

interface KindFieldProps {
  label: string
  value: ProviderKind
  onValue: (kind: ProviderKind) => void
}

/** Which interface a provider of models speaks. */
export function KindField({ label, value, onValue }: KindFieldProps) {
  return (
    <SelectField
      label={label}
      value={value}
      onValue={(chosen) => {
        const kind = kinds.find((one) => one === chosen)
        if (kind !== undefined) onValue(kind)
      }}
    >
      {kinds.map((kind) => (
        <option key={kind} value={kind}>
          {kindNames[kind]}
        </option>
      ))}
    </SelectField>
  )
}

const kinds: ProviderKind[] = [
  'openai-compatible',
  'openai-responses',
  'azure',
  'anthropic',
  'google',
  'bedrock',
  'mistral',
  'deepseek',
  'xai',
]
