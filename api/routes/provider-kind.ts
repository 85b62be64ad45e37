import Type from 'typebox'
import { providerKinds } from '../../domain/provider-kinds.ts'

export const Kind = Type.Enum([...providerKinds], {
  title: 'ProviderKind',
  description: 'The interface that a provider speaks; default: `openai-compatible`, which is chat completions.',
})
