import type { TokenLogprob } from '../../../domain/messages.ts'
import type { ChatCompletion } from './chat-schemas.ts'

export interface ChatChunk extends Pick<ChatCompletion, 'id' | 'created' | 'model'> {
  choices: {
    index: number
    delta: { role?: string; content?: string | null }
    logprobs: { content: TokenLogprob[] } | null
    finish_reason: ChatCompletion['choices'][number]['finish_reason'] | null
  }[]
  usage?: object | null
}
