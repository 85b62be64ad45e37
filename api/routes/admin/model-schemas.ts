import Type from 'typebox'
import { AnyKey } from '../../../domain/any-key.ts'
import { modelNameMax, servedModelsMax } from '../../../domain/served-models.ts'
import { Kind } from '../provider-kind.ts'
import { nullable } from '../schemas.ts'

const ModelName = Type.String({ minLength: 1, maxLength: modelNameMax })
const Window = Type.Integer({ minimum: 256, maximum: 100_000_000 })
const Price = Type.Number({ minimum: 0, maximum: 1_000_000 })
const MinutePrices = {
  recognition: Type.Optional(
    Type.Unsafe<number>({ ...Price, description: 'Processor time in which pictures are read.' }),
  ),
  code: Type.Optional(Type.Unsafe<number>({ ...Price, description: 'Time in which code of models is executed.' })),
  transcription: Type.Optional(Type.Unsafe<number>({ ...Price, description: 'Speech that is written down.' })),
  speech: Type.Optional(Type.Unsafe<number>({ ...Price, description: 'A thousand characters that are read aloud.' })),
}
const ModelPrice = {
  input: Price,
  output: Price,
  cached_input: Type.Optional(
    Type.Unsafe<number>({ ...Price, description: 'Of tokens read from the cache of the provider; default: `input`.' }),
  ),
  cache_write: Type.Optional(
    Type.Unsafe<number>({ ...Price, description: 'Of tokens written to it; default: `input`.' }),
  ),
}
const BaseUrl = Type.String({ minLength: 8, maxLength: 2000, pattern: '^https?://' })
const Key = Type.String({ minLength: 1, maxLength: 2000 })
const Ability = nullable(
  Type.Unsafe<boolean>({ type: 'boolean', description: 'Absent: as it is. Null: what is known of the model.' }),
)
const Source = Type.Enum(['environment', 'stored', 'found', 'demo', 'automatic'], {
  title: 'ModelSource',
  about: 'Where it was set: by the environment or by an operator, or found by `npm start`.',
})

const ModelServer = Type.Object(
  {
    server_id: Type.String(),
    name: Type.String(),
    kind: Kind,
    base_url: nullable(Type.String({ description: "Null: OpenAI's own." })),
    source: Source,
    key: Type.Enum(['none', 'set', 'unreadable'], {
      title: 'ModelServerKey',
      about: 'Whether a key is sent to the server; `unreadable`: it is encrypted under another `SECRETS_KEY`.',
    }),
    key_hint: Type.String({ description: 'The first characters of the key, at most six.' }),
    models: Type.Array(
      Type.Object({
        id: Type.String({ description: 'The name by which assistants choose it.' }),
        provider_model: Type.String({ description: "The server's own name of it." }),
        context_tokens: nullable(Type.Integer()),
        pictures: nullable(Type.Boolean({ description: 'Whether it sees pictures. Null: not known.' })),
        tools: nullable(Type.Boolean({ description: 'Whether it calls tools. Null: not known.' })),
        thinking: nullable(Type.Boolean({ description: 'Whether it thinks. Null: not known.' })),
        json: nullable(Type.Boolean({ description: 'Whether it writes JSON by a schema. Null: not known.' })),
        set: Type.Array(Type.Enum(['pictures', 'tools', 'thinking', 'json']), {
          description: 'Which of these operators have said.',
        }),
        listed_price: nullable(
          Type.Object(ModelPrice, { description: 'In US dollars, by the list of known models. Null: not listed.' }),
        ),
        learnt: Type.Array(Type.String(), {
          description: 'How its requests are written since it refused others, in the last hour, by this process.',
        }),
      }),
    ),
  },
  { title: 'ModelServer', about: 'A server with models, and where it was set.' },
)

export const ModelSettings = Type.Object(
  {
    servers: Type.Array(ModelServer, { description: 'In the order in which they are asked for a model.' }),
    default_model: Type.String(),
    default_source: Source,
    small_model: nullable(
      Type.String({ description: 'Names chats and suggests questions after answers. Null: nobody does.' }),
    ),
    small_source: Source,
    fallbacks: Type.Array(Type.Object({ model: Type.String(), others: Type.Array(Type.String()), source: Source })),
    currency: Type.String(),
    prices: Type.Array(Type.Object({ model: Type.String(), ...ModelPrice }), {
      description: 'For a million tokens; `*` stands for all other models.',
    }),
    minutes: Type.Object(MinutePrices, { description: 'For a minute of the work of the service.' }),
    prices_source: Source,
    is_demo: Type.Boolean({ description: 'Whether only the demo model of `npm start` answers.' }),
  },
  {
    title: 'ModelSettings',
    about: 'What is set about models. What the environment says wins, and cannot be changed here.',
  },
)

export const ModelServerRequest = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100 }),
    kind: Type.Optional(Kind),
    base_url: BaseUrl,
    api_key: Type.Optional(
      nullable(
        Type.Unsafe<string>({ ...Key, description: 'Absent: the key stays, if the address stays. Null: none.' }),
      ),
    ),
    models: Type.Array(
      Type.Object({
        id: ModelName,
        provider_model: Type.Optional(ModelName),
        context_tokens: Type.Optional(Window),
        pictures: Type.Optional(Ability),
        tools: Type.Optional(Ability),
        thinking: Type.Optional(Ability),
        json: Type.Optional(Ability),
      }),
      { maxItems: servedModelsMax },
    ),
  },
  { title: 'ModelServerRequest', about: 'A model server. Its address may be a private one.' },
)

export const ModelChoicesRequest = Type.Object(
  {
    default_model: nullable(ModelName),
    small_model: Type.Optional(
      nullable(
        Type.Unsafe<string>({
          ...ModelName,
          description: 'Names chats and suggests questions after answers. Null: nobody does. Absent: as it is.',
        }),
      ),
    ),
    fallbacks: Type.Record(AnyKey, Type.Array(ModelName, { maxItems: 10 }), { maxProperties: 200 }),
    currency: Type.String({ minLength: 1, maxLength: 10 }),
    prices: Type.Record(AnyKey, Type.Object(ModelPrice), {
      maxProperties: 1000,
      description: 'For a million tokens, by model.',
    }),
    minutes: Type.Optional(
      Type.Object(MinutePrices, { description: 'For a minute of the work of the service; absent: nothing.' }),
    ),
  },
  { title: 'ModelChoicesRequest', about: 'The default model, fallbacks and prices.' },
)

export const LookForModelsRequest = Type.Object(
  {
    server_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 128, description: 'A known server, whose key is used.' }),
    ),
    kind: Type.Optional(Kind),
    base_url: Type.Optional(BaseUrl),
    api_key: Type.Optional(Key),
  },
  { title: 'LookForModelsRequest', about: 'A known server, or an address with its key.' },
)

export const ServedModels = Type.Object(
  {
    base_url: nullable(Type.String({ description: 'The address that answered.' })),
    models: Type.Array(
      Type.Object({
        id: Type.String(),
        context_tokens: nullable(Type.Integer()),
        seems_to_chat: Type.Boolean({ description: 'By its name: whether it writes answers.' }),
      }),
    ),
  },
  { title: 'ServedModels', about: 'The models that a server lists.' },
)

export const TryModelRequest = Type.Object(
  { model: ModelName },
  { title: 'TryModelRequest', about: 'The model to try.' },
)

const trial = {
  works: Type.Boolean(),
  ms: Type.Integer({ description: 'How long it took.' }),
  problem: nullable(Type.String()),
}

export const ModelTrial = Type.Object(
  {
    model: Type.String(),
    streaming: Type.Object({
      ...trial,
      first_token_ms: nullable(Type.Integer()),
      tokens_per_second: nullable(Type.Number()),
    }),
    tools: Type.Object(trial),
    json: Type.Object(trial),
    embeddings: Type.Object({ ...trial, dimensions: nullable(Type.Integer()) }),
    context_tokens: Type.Integer(),
    context_source: Type.Enum(['server', 'known'], {
      title: 'ContextSource',
      about: 'Whether the server names the context window, or the service knows or assumes it.',
    }),
  },
  { title: 'ModelTrial', about: 'What a model can do, and how fast.' },
)
