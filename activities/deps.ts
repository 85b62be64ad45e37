import type { Collections } from '../services/collections.ts'

/** What activities are given from outside; the worker makes it, and tests may give other things. */
export interface ActivityDeps {
  collections: Collections
}
