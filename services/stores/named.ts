import type { Model } from 'mongoose'

export interface Named {
  _id: string
  name?: string
}

/** The names of these records; with a user, only of those of this user. */
export function namesIn<T extends Named & { user_id: string }>(
  collection: Model<T>,
  ids: string[],
  userId: string | undefined,
): Promise<Named[]> {
  const filter: object = { _id: { $in: ids }, ...(userId === undefined ? {} : { user_id: userId }) }
  return collection.find(filter, { name: 1 }).lean<Named[]>().exec()
}
