import { peopleMessages } from '../texts/people.ts'
import type { Member } from './api.ts'
import { personName } from './person.ts'

const t = peopleMessages.groups
/** Some identity providers name groups by ids, until an operator gives them a name. */
const isId = (name: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(name)

/** What a group is called; one without a name for people, by the end of what it has, so that two of them differ. */
export function groupName({ group_id: id, name }: { group_id: string; name: string }): string {
  const given = name.trim()
  return given !== '' && !isId(given) ? given : t.nameless((given || id).slice(-4))
}

/** What a member is called, be it a person or a group. */
export function memberName(member: Member): string {
  return member.group === undefined ? personName(member) : groupName(member.group)
}
