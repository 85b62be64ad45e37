/** Options of all collections: own string ids, no version key, empty objects are kept. */
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
