import type { Model, Query } from 'mongoose'
import type { Collections } from '../../services/collections.ts'

/** One statement of the product that could forget the owner: where it is, and what it would forget. */
export interface Mutant {
  /** `{place in the code} {collection}.{method} without {member}`. */
  name: string
  site: string
  /** The member of the filter that is left out; or, of a read record, the owner that a later check compares. */
  member: string
  of: 'filter' | 'result'
}

export type Mutation = ReturnType<typeof mutateStatements>

const owners = new Set(['user_id', 'project_id', 'assistant_id', 'thread_id'])
const methods = [
  'find',
  'findOne',
  'findById',
  'findOneAndUpdate',
  'findOneAndDelete',
  'updateOne',
  'updateMany',
  'deleteOne',
  'deleteMany',
  'exists',
  'countDocuments',
] as const

/**
 * Puts a switch into the statements of `collections`: a filter can lose the member that names its owner, and a
 * record that was read can seem to be the caller's. So code behaves as if somebody had removed that check.
 */
export function mutateStatements(collections: Collections) {
  let active: (Mutant & { caller: string }) | undefined
  let seen: Map<string, Mutant> | undefined
  let isNested = false
  const undo: (() => void)[] = []

  for (const [name, model] of Object.entries<Model<unknown>>(collections as never)) {
    for (const method of methods) {
      const original = model[method] as (...given: unknown[]) => Query<unknown, unknown>
      const replaced = function (this: unknown, ...given: unknown[]) {
        // Some of these methods call others of them.
        if (isNested) return original.apply(model, given)
        const statement = `${name}.${method}`
        const isMeant = active?.name.includes(` ${statement} `) ?? false
        // To ask for the place takes longer than the statement.
        if (seen === undefined && !isMeant) return call(given)
        const site = siteOfCaller()
        const filter = isObject(given[0]) ? given[0] : {}
        const hasOwner = model.schema.path('user_id') !== undefined
        for (const mutant of mutantsOf(site, statement, filter, hasOwner)) seen?.set(mutant.name, mutant)
        if (active?.site !== site || !isMeant) return call(given)
        const { member, of, caller } = active
        if (of === 'filter') {
          const kept = Object.fromEntries(Object.entries(filter).filter(([key]) => key !== member))
          return call([kept, ...given.slice(1)])
        }
        return call(given).transform((result: unknown) => ownedBy(result, caller)) as never
      }
      function call(given: unknown[]) {
        isNested = true
        try {
          return original.apply(model, given)
        } finally {
          isNested = false
        }
      }
      Object.defineProperty(model, method, { value: replaced, configurable: true, writable: true })
      undo.push(() => Object.defineProperty(model, method, { value: original, configurable: true, writable: true }))
    }
  }

  return {
    /** The mutants whose statements `act` executes. */
    async record<T>(act: () => Promise<T>): Promise<{ answer: T; mutants: Mutant[] }> {
      seen = new Map()
      const answer = await act()
      const mutants = [...seen.values()]
      seen = undefined
      return { answer, mutants }
    },

    async with<T>(mutant: Mutant & { caller: string }, act: () => Promise<T>): Promise<T> {
      active = mutant
      try {
        return await act()
      } finally {
        active = undefined
      }
    },

    restore: () => {
      for (const restore of undo) restore()
    },
  }
}

function mutantsOf(site: string, statement: string, filter: Record<string, unknown>, hasOwner: boolean): Mutant[] {
  const inFilter = Object.keys(filter).filter((key) => owners.has(key))
  const mutants: Mutant[] = inFilter.map((member) => ({
    name: `${site} ${statement} without ${member}`,
    site,
    member,
    of: 'filter',
  }))
  if (hasOwner && inFilter.length === 0 && /\.find(?:One|ById)$/.test(statement))
    mutants.push({ name: `${site} ${statement} of any user_id`, site, member: 'user_id', of: 'result' })
  return mutants
}

/** The place in the product that called a model: the first frame outside of tests and packages. */
function siteOfCaller(): string {
  const frames = new Error('where').stack?.split('\n').slice(2) ?? []
  for (const frame of frames) {
    const place = /\/((?:services|activities|composition|api|infra)\/[\w/.-]+\.ts):(\d+)/.exec(frame)
    if (place !== null && !frame.includes('node_modules')) return `${place[1]}:${place[2]}`
  }
  return 'elsewhere'
}

function ownedBy(result: unknown, userId: string): unknown {
  return isObject(result) && 'user_id' in result ? { ...result, user_id: userId } : result
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
