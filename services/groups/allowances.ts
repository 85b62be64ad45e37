import { AppError } from '../../domain/errors.ts'
import { type GroupAllowed, everyone } from '../../domain/records/group.ts'
import { groupsOf } from '../owner.ts'
import type { GroupStore } from './store.ts'

/** What somebody may use; an absent list: everything. */
export interface Allowances {
  models?: ReadonlySet<string>
  toolTypes?: ReadonlySet<string>
  hosts?: readonly string[]
}

/** What everybody may, and beside it what his groups may. A kind that is not limited for everybody is not limited at all. */
function allowancesOf(everybody: GroupAllowed, groups: readonly GroupAllowed[]): Allowances {
  const all = (kind: keyof GroupAllowed) =>
    everybody[kind] === undefined
      ? undefined
      : [...everybody[kind], ...groups.flatMap((allowed): string[] => allowed[kind] ?? [])]
  const [models, types, hosts] = [all('models'), all('tool_types'), all('hosts')]
  return {
    ...(models === undefined ? {} : { models: new Set(models) }),
    ...(types === undefined ? {} : { toolTypes: new Set(types) }),
    ...(hosts === undefined ? {} : { hosts }),
  }
}

export const mayUseModel = ({ models }: Allowances, model: string): boolean => models?.has(model) ?? true
export const mayUseToolType = ({ toolTypes }: Allowances, type: string): boolean => toolTypes?.has(type) ?? true

/** How soon another process notices a change. */
const cachedMs = 2000

export type AllowancesNow = ReturnType<typeof createAllowances>

/** What users may use, as operators have said. While nothing is limited, a look costs no statement. */
export function createAllowances(store: Pick<GroupStore, 'findAll' | 'userWithGroups'>, now = Date.now) {
  let known: { at: number; allowed: Promise<GroupAllowed> } | undefined

  function ofEverybody(): Promise<GroupAllowed> {
    if (known === undefined || now() - known.at > cachedMs) {
      const allowed = store.findAll([everyone]).then(([group]) => group?.allowed ?? {})
      known = { at: now(), allowed }
      allowed.catch(() => (known = undefined))
    }
    return known.allowed
  }

  async function allowed(userId: string): Promise<Allowances> {
    const everybody = await ofEverybody()
    if (Object.values(everybody).every((list) => list === undefined)) return {}
    const groups = groupsOf((await store.userWithGroups(userId)) ?? {})
    const found = groups.length === 0 ? [] : await store.findAll(groups)
    return allowancesOf(
      everybody,
      found.map((group) => group.allowed ?? {}),
    )
  }

  return {
    of: allowed,

    /** What was read before is not used any more: an operator has just changed it, in this process. */
    forget(): void {
      known = undefined
    },

    /** Throws `forbidden` with the name of a model that the user may not use. */
    async requireModel(userId: string, model: string): Promise<void> {
      if (!mayUseModel(await allowed(userId), model))
        throw new AppError('forbidden', `The operator of this service does not allow you the model ${model}.`)
    },
  }
}
