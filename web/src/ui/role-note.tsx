import { useMembership, type Role } from '../lib/membership.ts'
import { Notice } from './notice.tsx'

/** Says why a part of a page is not offered: the user's role in the project is less than `needed`. */
export function RoleNote({ needed }: { needed: Role }) {
  const { hasEnded, why: whyNot } = useMembership()
  const why = whyNot(needed)
  // The end of the access is said above the page.
  return why === undefined || hasEnded ? undefined : <Notice>{why}</Notice>
}
