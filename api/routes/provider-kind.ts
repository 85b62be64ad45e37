import Type from 'typebox'
import { providerKinds } from '../../domain/model-providers.ts'

export const Kind = Type.Enum([...providerKinds], {
  title: 'ProviderKind',
  about: 'The interface that a provider of models speaks.',
  description: 'The interface that a provider speaks; default: `openai-compatible`, which is chat completions.',
})
