import { roleName, roles } from '../../lib/membership.ts'
import { peopleMessages as t } from '../../texts/people.ts'

/** What each role may do, in words. */
export function RoleHelp() {
  return (
    <section className="card stack-small">
      <h2>{t.roles}</h2>
      <p className="muted small">{t.rolesText}</p>
      <dl className="role-help">
        {roles.map((role) => (
          <div key={role}>
            <dt>{roleName(role)}</dt>
            <dd>{t.can[role]}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
