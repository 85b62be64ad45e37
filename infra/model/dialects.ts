import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { defaultBaseUrl } from './guarded-fetch.ts'

/** Members of a request that a server may not know, so that it is asked without them. */
export const optionalMembers = [
  'stream_options',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'service_tier',
  'parallel_tool_calls',
  'tool_choice',
  'temperature',
  'top_p',
  'frequency_penalty',
  'presence_penalty',
  'seed',
  'stop',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'verbosity',
  'reasoning_effort',
  'response_format',
  'max_tokens',
  'strict',
] as const
export type OptionalMember = (typeof optionalMembers)[number]

/** How a server wants its requests, where it differs from the others. */
export const habits = [
  /** The limit of an answer is called `max_completion_tokens`. */
  'max_completion_tokens',
  /** All system messages are one, at the beginning. */
  'one_system_message',
  /** The instructions are those of a developer. */
  'developer_role',
  /** There is no system message: its text begins the first message of the user. */
  'system_in_first_message',
  /** Messages of user and model take turns. */
  'turns_alternate',
  /** Calls of earlier turns are told as text. */
  'past_calls_as_text',
  /** Ids of calls have nine letters and digits. */
  'short_call_ids',
  /** Every call comes with the thinking before it. */
  'thinking_with_calls',
  /** Nothing of the model's thinking comes back. */
  'no_thinking_back',
  /** Every first call of an answer comes with a signature. */
  'signed_calls',
  /** Contents are texts: neither null nor lists. */
  'text_content',
  /** The model sees no pictures: a note stands for those in results of tools. */
  'no_pictures_of_tools',
  /** Schemas of tools have only what every server knows; those of strict tools stay whole. */
  'plain_schemas',
  /** Those of strict tools, too. */
  'plain_strict_schemas',
  /** Names of tools begin with a letter. */
  'plain_names',
  /** A model without the effort `none`, or without `minimal`: it gets `low`. */
  'effort_none_is_low',
  'effort_minimal_is_low',
  /** The template opens the tag of thinking, so that answers have only its end. */
  'open_thinking',
] as const
type Habit = (typeof habits)[number]

export type Trait = Habit | `without ${OptionalMember}`

/** How long a server is believed to be as it was: models behind one name change. */
const rememberedMs = 60 * 60 * 1000
const maxServers = 1000

interface ServedBy {
  baseUrl: string | undefined
  model: string
  /** The key, if it is a user's own: what one user's server answers says nothing about other users' accounts. */
  ownKey?: string | undefined
}

export type Dialects = ReturnType<typeof createDialects>

/** What each server was learnt to want for each of its models, for an hour. Users' own accounts are kept apart. */
export function createDialects() {
  const known = new LRUCache<string, ReadonlySet<Trait>>({ max: maxServers, ttl: rememberedMs })
  const keyOf = ({ baseUrl = defaultBaseUrl, model, ownKey }: ServedBy) =>
    JSON.stringify([baseUrl, model, ...(ownKey === undefined ? [] : [hashed(ownKey)])])
  const of = (served: ServedBy): ReadonlySet<Trait> => known.get(keyOf(served)) ?? usualTraits(served)
  return {
    of,
    /** Adds to what other requests learnt meanwhile. */
    remember(served: ServedBy, traits: Iterable<Trait>): void {
      known.set(keyOf(served), new Set([...of(served), ...traits]))
    },
    forget(served: ServedBy, trait: Trait): void {
      known.set(keyOf(served), new Set([...of(served)].filter((one) => one !== trait)))
    },
    /** What was learnt, for the page of the model. */
    learnt(served: ServedBy): Trait[] {
      const usual = usualTraits(served)
      return [...(known.get(keyOf(served)) ?? [])].filter((trait) => !usual.has(trait))
    },
  }
}

const hashed = (key: string): string => createHash('sha256').update(key).digest('base64url')

/** What is known before the first question. */
function usualTraits({ baseUrl = defaultBaseUrl, model }: ServedBy): Set<Trait> {
  const { hostname } = new URL(baseUrl)
  const traits = new Set<Trait>()
  // Every model there takes it, and those that think take no other.
  if (hostname === 'api.openai.com') {
    traits.add('max_completion_tokens')
    // Models that think take instructions from developers.
    if (/^(?:o\d|gpt-5)/.test(model) && !/^o1-(?:mini|preview)/.test(model)) traits.add('developer_role')
  }
  if (hostname === 'generativelanguage.googleapis.com') {
    traits.add('plain_schemas')
    traits.add('plain_strict_schemas')
  }
  // Their published templates open the tag. A server that parses thinking sends it apart, and is not affected.
  if (/deepseek-r1|qwq|qwen3.*-thinking/i.test(model)) traits.add('open_thinking')
  return traits
}
