import { UsersRound } from 'lucide-react'
import { coloursOf } from '../lib/face.ts'

/** A group, in the colours that its id chooses: with corners, where a person has a circle. */
export function GroupFace({ id, size = 32 }: { id: string; size?: number }) {
  const { skin, ink } = coloursOf(id)
  return (
    <svg className="face" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="9" fill={skin} />
      <UsersRound x="7" y="7" width="18" height="18" color={ink} />
    </svg>
  )
}
