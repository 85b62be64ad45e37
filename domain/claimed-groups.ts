import { groupLimits } from './records/group.ts'

/** By the claim, what a provider calls the groups of a user. */
export type ClaimedNames = ReadonlyMap<string, string[]>

/**
 * Reads the groups of a user from the claims that the operator has named: lists of texts, or one text. A missing claim means
 * no groups, because providers leave out empty lists. Undefined if that is not known: Entra ID replaces a list that is too
 * long by a reference (`_claim_names`, `hasgroups`), and then what is known stays. What is no text, too long, or more than
 * a user can have is left out.
 */
export function claimedGroupsOf(
  claims: Readonly<Record<string, unknown>>,
  names: readonly string[],
): ClaimedNames | undefined {
  if (names.length === 0) return undefined
  const elsewhere = claims['_claim_names']
  const isElsewhere = (name: string) =>
    typeof elsewhere === 'object' && elsewhere !== null && Object.keys(elsewhere).includes(name)
  const claimed = new Map<string, string[]>()
  let room: number = groupLimits.ofUser
  for (const name of names) {
    if (isElsewhere(name) || (name === 'groups' && claims['hasgroups'] !== undefined)) return undefined
    const value = claims[name]
    const list: unknown[] = Array.isArray(value) ? value.slice(0, groupLimits.ofUser) : [value]
    const texts = new Set(list.flatMap((one) => (typeof one === 'string' && isName(one) ? [one] : [])))
    const taken = [...texts].slice(0, room)
    room -= taken.length
    claimed.set(name, taken)
  }
  return claimed
}

const isName = (text: string) => text.trim() !== '' && text.length <= groupLimits.nameLength

/** A trailing slash of the issuer counts for nothing, because settings and tokens do not always agree about it. */
export function realmOf(issuer: string, claim: string): string {
  return `${issuer.replace(/\/+$/, '')} ${claim}`
}
