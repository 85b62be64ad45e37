/** What all our collections share: own string ids, no version key, no silent dropping of empty objects. */
export function schemaOptions(collection: string) {
  return {
    collection,
    versionKey: false,
    minimize: false,
    strict: 'throw',
    id: false,
    autoIndex: false,
    autoCreate: false,
  } as const
}
