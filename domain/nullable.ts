import Type, { type TSchema } from 'typebox'

/** What the schema describes, or null. */
export const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
