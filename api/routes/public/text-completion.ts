import type { FastifyReply } from 'fastify'
import Type, { type Static, type TProperties } from 'typebox'
import { AnyKey } from '../../../domain/any-key.ts'
import { invalidInput } from '../../../domain/errors.ts'
import { requestLimits } from '../../../domain/limits.ts'
import { type RunMessageInput, type TokenLogprob, TokenUsage } from '../../../domain/messages.ts'
import { nullable } from '../schemas.ts'
import { type RequestedChat, type ChatHost, answerChat } from './answer-chat.ts'
import { type ChatCompletion, maxChoices } from './chat-schemas.ts'
import type { ChatChunk } from './completion.ts'
import { chatParameters, overridesOf } from './model-parameters.ts'

const maybe = <T extends Type.TSchema>(schema: T) => Type.Optional(nullable(schema))
const text = Type.String({ maxLength: requestLimits.messageLength })
const token = Type.Integer()
const { max_tokens, temperature, top_p, seed, frequency_penalty, presence_penalty, stop, logit_bias } = chatParameters

/**
 * The members of a request for a completion that both families take, following the `openai` package
 * (resources/completions).
 */
export const textCompletionMembers = {
  prompt: maybe(
    Type.Union(
      [
        text,
        Type.Array(text, { minItems: 1, maxItems: maxChoices }),
        Type.Array(token, { minItems: 1, maxItems: requestLimits.messages }),
        Type.Array(Type.Array(token, { maxItems: requestLimits.messages }), { minItems: 1, maxItems: maxChoices }),
      ],
      { description: 'A text, or several: each is a question to the model. Lists of tokens are refused.' },
    ),
  ),
  n: maybe(Type.Integer({ minimum: 1, maximum: maxChoices, description: 'Answers to each prompt.' })),
  best_of: maybe(Type.Integer({ minimum: 1, maximum: 20, description: 'Only the value of `n`.' })),
  echo: maybe(Type.Boolean({ description: 'The prompt comes before the answer.' })),
  suffix: maybe(Type.String({ maxLength: requestLimits.messageLength, description: 'Refused.' })),
  logprobs: maybe(Type.Integer({ minimum: 0, maximum: 5 })),
  stream: maybe(Type.Boolean()),
  stream_options: maybe(
    Type.Object({ include_usage: maybe(Type.Boolean()), include_obfuscation: maybe(Type.Boolean()) }),
  ),
  max_tokens,
  temperature,
  top_p,
  seed,
  frequency_penalty,
  presence_penalty,
  stop,
  logit_bias,
} satisfies TProperties
const Members = Type.Object(textCompletionMembers)
type TextCompletionMembers = Static<typeof Members>

const Logprobs = Type.Object(
  {
    tokens: Type.Array(Type.String()),
    token_logprobs: Type.Array(Type.Number()),
    top_logprobs: Type.Array(Type.Record(AnyKey, Type.Number())),
    text_offset: Type.Array(Type.Integer()),
  },
  { title: 'CompatTextLogprobs', about: 'The probabilities of tokens, in the shape of the older interface.' },
)

export const TextCompletion = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('text_completion'),
    created: Type.Integer({ description: 'Seconds since 1970.' }),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        index: Type.Integer(),
        text: Type.String(),
        logprobs: nullable(Logprobs),
        finish_reason: Type.Enum(['stop', 'length', 'content_filter'], {
          title: 'CompatTextFinishReason',
          about: 'Why an answer ended.',
        }),
      }),
    ),
    usage: Type.Optional(TokenUsage),
  },
  { title: 'CompatTextCompletion', about: 'Answers to prompts, in the shape of the older interface.' },
)
type TextCompletion = Static<typeof TextCompletion>
type Choice = TextCompletion['choices'][number]

type RequestedText = Omit<RequestedChat, 'acting' | 'clientTools'> & { echoes: string[] }

/** What a request for completions asks of the chat model. `echoes`: what comes before each answer. */
export function requestOf(body: TextCompletionMembers & { model: string }): RequestedText {
  if (body.suffix) throw refused('suffix', 'a chat model writes no text between others: put the task into the prompt')
  const perPrompt = body.n ?? 1
  if (body.best_of && body.best_of !== perPrompt) throw refused('best_of', 'all answers are given: it must be as n')
  const prompts = promptsOf(body.prompt)
  const choices = prompts.length * perPrompt
  if (choices > maxChoices)
    throw invalidInput(['body', 'prompt'], `can be answered ${maxChoices} times at most, with n for each prompt`)
  const promptOf = (choice: number) => prompts[Math.floor(choice / perPrompt)] ?? ''
  const messagesOf = (choice: number): RunMessageInput[] => [
    { type: 'HumanMessage', data: { content: promptOf(choice) } },
  ]
  const withLogprobs = typeof body.logprobs === 'number'
  const echoes = Array.from({ length: choices }, (_, choice) => (body.echo ? promptOf(choice) : ''))
  return {
    model: body.model,
    choices,
    messages: messagesOf(0),
    messagesOf,
    overrides: {
      ...overridesOf({
        ...body,
        logprobs: withLogprobs,
        top_logprobs: withLogprobs && body.logprobs ? body.logprobs : undefined,
      }),
      // Of an assistant's functions no caller is told here: an answer that calls one is over.
      client_calls: 'return',
    },
    isStored: false,
    isOld: false,
    showsReasoning: false,
    isStreamed: body.stream ?? false,
    includeUsage: body.stream_options?.include_usage ?? false,
    toChunk: createTextChunks(echoes),
    echoes,
  }
}

/** Answers it. */
export async function answerText(
  exchange: Parameters<typeof answerChat>[0],
  host: ChatHost,
  { echoes, ...asked }: RequestedText & Pick<RequestedChat, 'acting' | 'clientTools'>,
): Promise<TextCompletion | FastifyReply> {
  const answer = await answerChat(exchange, host, asked)
  return 'choices' in answer ? textCompletionOf(answer, echoes) : answer
}

function promptsOf(prompt: TextCompletionMembers['prompt']): string[] {
  const all = Array.isArray(prompt) ? prompt : [prompt ?? '']
  return all.map((one) => {
    if (typeof one !== 'string') throw refused('prompt', 'tokens cannot be read here: send texts')
    if (one === '') throw invalidInput(['body', 'prompt'], 'is required', 'missing')
    return one
  })
}

function refused(member: string, why: string) {
  return invalidInput(['body', member], why, 'unsupported')
}

function textCompletionOf({ id, created, model, choices, usage }: ChatCompletion, echoes: string[]): TextCompletion {
  return {
    ...head({ id, created, model }),
    choices: choices.map(({ index, message, logprobs, finish_reason: reason }): Choice => {
      const echo = echoes[index] ?? ''
      return {
        index,
        text: `${echo}${message.content ?? ''}`,
        logprobs: logprobs === null ? null : logprobsOf(logprobs.content, echo.length),
        finish_reason: reasonOf(reason),
      }
    }),
    ...(usage === undefined ? {} : { usage }),
  }
}

/** Converts the chunks of one streamed answer; undefined: nothing to send. */
function createTextChunks(echoes: string[]) {
  const offsets = echoes.map(({ length }) => length)
  return (chunk: ChatChunk): object | undefined => {
    const { id, created, model, choices, usage } = chunk
    const [choice] = choices
    if (choice === undefined) return { ...head({ id, created, model }), choices: [], usage }
    const { index, delta, logprobs, finish_reason: reason } = choice
    const begun = delta.role === undefined ? '' : (echoes[index] ?? '')
    const text = `${begun}${delta.content ?? ''}`
    if (text === '' && reason === null && logprobs === null) return undefined
    const offset = offsets[index] ?? 0
    offsets[index] = offset + (delta.content ?? '').length
    return {
      ...head({ id, created, model }),
      choices: [
        {
          index,
          text,
          logprobs: logprobs === null ? null : logprobsOf(logprobs.content, offset),
          finish_reason: reason === null ? null : reasonOf(reason),
        },
      ],
      ...(usage === undefined ? {} : { usage }),
    }
  }
}

function head({ id, created, model }: Pick<ChatCompletion, 'id' | 'created' | 'model'>) {
  return { id: id.replace('chatcmpl-', 'cmpl-'), object: 'text_completion' as const, created, model }
}

function reasonOf(reason: ChatCompletion['choices'][number]['finish_reason']): Choice['finish_reason'] {
  return reason === 'length' || reason === 'content_filter' ? reason : 'stop'
}

function logprobsOf(tokens: TokenLogprob[], from: number): Static<typeof Logprobs> {
  let offset = from
  return {
    tokens: tokens.map(({ token: one }) => one),
    token_logprobs: tokens.map(({ logprob }) => logprob),
    top_logprobs: tokens.map(({ top_logprobs: others }) =>
      Object.fromEntries(others.map(({ token: one, logprob }) => [one, logprob])),
    ),
    text_offset: tokens.map(({ token: one }) => {
      offset += one.length
      return offset - one.length
    }),
  }
}
