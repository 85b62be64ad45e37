import { faceOf } from '../lib/face.ts'

/** The face of an assistant. */
export function Face({ name, size = 32 }: { name: string; size?: number }) {
  const { skin, ink, eyes, areEyesLines, mouth, hue } = faceOf(name)
  return (
    <svg className="face" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" data-hue={hue}>
      <rect width="32" height="32" rx="10" fill={skin} />
      <g fill={ink} stroke={ink} strokeWidth="0">
        <path d={eyes} className={areEyesLines ? 'face-line' : undefined} />
        <path d={mouth} className="face-line" />
      </g>
    </svg>
  )
}
