import Type, { type Static } from 'typebox'
import { ShortKey } from './any-key.ts'

/** Metadata as OpenAI's interface has it: it is stored and returned unchanged. */
export const Metadata = Type.Record(ShortKey, Type.String({ maxLength: 512 }), {
  maxProperties: 16,
  additionalProperties: false,
  description: 'Up to 16 texts of 512 characters, under keys of 64 characters.',
})
export type Metadata = Static<typeof Metadata>
