// Before a change: docs/traps.md, Libraries.
import Type from 'typebox'

/**
 * The key of a record that may have any keys: `Type.Record(AnyKey, …)`. With a plain string the pattern of keys is
 * `^.*$`, which matches no line breaks, so that values under keys with line breaks would not be checked.
 */
export const AnyKey = Type.String({ pattern: String.raw`^[\s\S]*$` })

/** The same for keys of 1 to 64 characters. */
export const ShortKey = Type.String({ pattern: String.raw`^[\s\S]{1,64}$` })
