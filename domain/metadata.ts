import Type, { type Static } from 'typebox'

/** Metadata as OpenAI's interface has it: it is stored and returned unchanged. */
export const Metadata = Type.Record(
  Type.String({ pattern: String.raw`^[\s\S]{1,64}$` }),
  Type.String({ maxLength: 512 }),
  {
    maxProperties: 16,
    additionalProperties: false,
    description: 'Up to 16 texts of 512 characters, under keys of 64 characters.',
  },
)
export type Metadata = Static<typeof Metadata>
