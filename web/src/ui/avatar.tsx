import { coloursOf } from '../lib/face.ts'
import { initialsOf } from '../lib/person.ts'

/** The initials of a person on a colour of the own: `id` chooses it, so that two of the same name differ. */
export function Avatar({ name, id, size = 32 }: { name: string; id: string; size?: number }) {
  const { skin, ink } = coloursOf(id)
  return (
    <svg className="face" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <circle cx="16" cy="16" r="16" fill={skin} />
      <text x="16" y="16" dy=".36em" textAnchor="middle" fontSize="13" fontWeight="700" fill={ink}>
        {initialsOf(name)}
      </text>
    </svg>
  )
}
