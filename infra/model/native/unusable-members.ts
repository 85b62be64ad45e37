import type { SharedV4Warning } from '@ai-sdk/provider'
import type { NativeKind } from '../../../domain/provider-kinds.ts'
import type { ChatRequest } from '../../../services/runs/chat-model.ts'
import type { OptionalMember } from '../dialects.ts'
import { changesNoAnswer } from '../optional-members.ts'

type Asked = Omit<ChatRequest, 'account'>

/** Members that the packages do not pass on. */
const notPassed: readonly OptionalMember[] = ['logit_bias', 'logprobs', 'top_logprobs']

/** The names of members in the warnings of the packages. */
const byFeature: Record<string, OptionalMember> = {
  temperature: 'temperature',
  topP: 'top_p',
  presencePenalty: 'presence_penalty',
  frequencyPenalty: 'frequency_penalty',
  seed: 'seed',
  stopSequences: 'stop',
  responseFormat: 'response_format',
}

/** A member that the caller set, that changes the answer, and that no provider of this kind is sent. */
export function unusableMember(request: Asked, kind: NativeKind): OptionalMember | undefined {
  const isOpenai = kind === 'openai-responses' || kind === 'azure'
  return [...notPassed, ...(isOpenai ? [] : ['verbosity' as const])].find((name) => isAsked(name, request))
}

/** The same, by what a package says about the request. */
export function warnedMember(warnings: SharedV4Warning[], request: Asked): OptionalMember | undefined {
  return warnings
    .flatMap((warning) => (warning.type === 'unsupported' ? (byFeature[warning.feature] ?? []) : []))
    .find((name) => isAsked(name, request))
}

function isAsked(name: OptionalMember, { setByCaller = [], temperature, sampling, model }: Asked): boolean {
  const { service_tier: _tier, ...others } = sampling
  const body = { ...others, temperature, model, messages: [], stream: true as const }
  return setByCaller.includes(name) && !changesNoAnswer(name, body)
}
