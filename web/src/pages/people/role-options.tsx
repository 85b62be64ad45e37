import { type Role, roleName, roles } from '../../lib/membership.ts'

/** All roles, as choices of a field. */
export function RoleOptions() {
  return roles.map((role) => (
    <option key={role} value={role}>
      {roleName(role)}
    </option>
  ))
}

export const roleOf = (value: string): Role => roles.find((role) => role === value) ?? 'viewer'
