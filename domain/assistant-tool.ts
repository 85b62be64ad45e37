import Type, { type Static } from 'typebox'

/** How many assistants one entry can name. */
export const maxAskable = 10

/** The configuration of the tool with which an assistant asks others. */
export const AssistantToolConfig = Type.Object({
  assistant_ids: Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
    minItems: 1,
    maxItems: maxAskable,
    uniqueItems: true,
    description: 'Ids of the assistants of the same project that this one may ask.',
  }),
})
export type AssistantToolConfig = Static<typeof AssistantToolConfig>
