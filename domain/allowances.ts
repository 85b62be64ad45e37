import type { GroupAllowed } from './records/group.ts'

/** What somebody may use; an absent list: everything. */
export interface Allowances {
  models?: ReadonlySet<string>
  toolTypes?: ReadonlySet<string>
  hosts?: readonly string[]
}

/** What everybody may, and beside it what his groups may. A kind that is not limited for everybody is not limited at all. */
export function allowancesOf(everybody: GroupAllowed, groups: readonly GroupAllowed[]): Allowances {
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
