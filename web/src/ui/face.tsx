const hues = [14, 42, 88, 152, 190, 222, 262, 318]
const eyes = [
  <g key="round">
    <circle cx="11.5" cy="14" r="1.9" />
    <circle cx="20.5" cy="14" r="1.9" />
  </g>,
  <g key="tall">
    <rect x="10.1" y="11.3" width="2.8" height="5.4" rx="1.4" />
    <rect x="19.1" y="11.3" width="2.8" height="5.4" rx="1.4" />
  </g>,
  <g key="happy" className="face-line">
    <path d="M9.5 15q2-3 4 0M18.5 15q2-3 4 0" />
  </g>,
]
const mouths = ['M11.5 19.500q4.5 4 9 0', 'M12.5 20.500h7', 'M13 19.500q3 2.6 6 0']

/** The face of an assistant, made from its name: the same name has the same face everywhere. */
export function Face({ name, size = 32 }: { name: string; size?: number }) {
  const number = hashOf(name)
  const hue = hues[number % hues.length] ?? 222
  const look = Math.floor(number / hues.length)
  return (
    <svg className="face" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" data-hue={hue}>
      <rect width="32" height="32" rx="10" fill={`hsl(${hue} 62% 84%)`} />
      <g fill={`hsl(${hue} 55% 22%)`} stroke={`hsl(${hue} 55% 22%)`} strokeWidth="0">
        {eyes[look % eyes.length]}
        <path d={mouths[Math.floor(look / eyes.length) % mouths.length]} className="face-line" />
      </g>
    </svg>
  )
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return hash
}
