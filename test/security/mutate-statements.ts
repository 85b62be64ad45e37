import type { Model, Query } from 'mongoose'
import type { Collections } from '../../services/collections.ts'

/** One statement of the product that could forget the owner: where it is, and what it would forget. */
export interface Mutant {
  /** `{place in the code} {collection}.{method} without {member}`. */
  name: string
  site: string
  /**
   * The member of the filter, or of its alternatives, that is left out; or, of a read record, what a later check
   * compares.
   */
  member: string
  of: 'filter' | 'alternatives' | 'result'
}

/** Who asks, and in which project: what a record that was read seems to be of. */
interface Caller {
  userId: string
  projectId: string
}

export type Mutation = ReturnType<typeof mutateStatements>

const owners = new Set(['user_id', 'project_id', 'assistant_id', 'thread_id', 'visibility'])
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
  let active: (Mutant & { caller: Caller }) | undefined
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
        const has = (member: string) => model.schema.path(member) !== undefined
        for (const mutant of mutantsOf(site, statement, filter, has)) seen?.set(mutant.name, mutant)
        if (active?.site !== site || !isMeant) return call(given)
        const { member, of, caller } = active
        switch (of) {
          case 'filter':
            return call([without(filter, member), ...given.slice(1)])
          case 'alternatives':
            return call([
              { ...filter, $or: branchesOf(filter).map((branch) => without(branch, member)) },
              ...given.slice(1),
            ])
          case 'result':
            return call(given).transform((result: unknown) => seemingly(result, member, caller)) as never
        }
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

    async with<T>(mutant: Mutant & { caller: Caller }, act: () => Promise<T>): Promise<T> {
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

function mutantsOf(
  site: string,
  statement: string,
  filter: Record<string, unknown>,
  has: (member: string) => boolean,
): Mutant[] {
  const named = (what: string, member: string, of: Mutant['of']) => ({
    name: `${site} ${statement} ${what}`,
    site,
    member,
    of,
  })
  const inFilter = Object.keys(filter).filter((key) => owners.has(key))
  const inBranches = new Set(
    branchesOf(filter).flatMap((branch) => Object.keys(branch).filter((key) => owners.has(key))),
  )
  const mutants: Mutant[] = [
    ...inFilter.map((member) => named(`without ${member}`, member, 'filter')),
    ...[...inBranches].map((member) => named(`without ${member} in $or`, member, 'alternatives')),
  ]
  if (!/\.find(?:One|ById)$/.test(statement)) return mutants
  if (has('visibility')) mutants.push(named('as if it were shared', 'visibility', 'result'))
  if (inFilter.length > 0) return mutants
  for (const member of ['user_id', 'project_id'] as const)
    if (has(member)) mutants.push(named(`of any ${member}`, member, 'result'))
  return mutants
}

const branchesOf = ({ $or: branches }: Record<string, unknown>) =>
  Array.isArray(branches) ? branches.filter(isObject) : []

function without(filter: Record<string, unknown>, member: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(filter).filter(([key]) => key !== member))
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

/** A record as it would have to be so that the caller may see it. */
function seemingly(result: unknown, member: string, { userId, projectId }: Caller): unknown {
  if (!isObject(result)) return result
  if (member === 'visibility')
    return { ...result, visibility: 'project', project_access: 'continue', project_id: projectId }
  if (!(member in result)) return result
  return { ...result, [member]: member === 'user_id' ? userId : projectId }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
