import Type, { type TSchema } from 'typebox'

/** What a route for completions declares as its answer. */
export const completionOrChunks = <T extends TSchema>(schema: T) => ({
  description: 'The completion; with `stream` its chunks as server-sent events, then `[DONE]`.',
  content: {
    'application/json': { schema },
    'text/event-stream': { schema: Type.String() },
  },
})
