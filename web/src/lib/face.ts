const hues = [14, 42, 88, 152, 190, 222, 262, 318]
/** Round, tall, and happy, in a square of 32. Only the last are lines. */
const eyes = [
  'M9.6 14a1.9 1.9 0 1 0 3.8 0a1.9 1.9 0 1 0-3.8 0zM18.6 14a1.9 1.9 0 1 0 3.8 0a1.9 1.9 0 1 0-3.8 0z',
  'M10.1 12.7a1.4 1.4 0 0 1 2.8 0v2.6a1.4 1.4 0 0 1-2.8 0zM19.1 12.7a1.4 1.4 0 0 1 2.8 0v2.6a1.4 1.4 0 0 1-2.8 0z',
  'M9.5 15q2-3 4 0M18.5 15q2-3 4 0',
]
const mouths = ['M11.5 19.500q4.5 4 9 0', 'M12.5 20.500h7', 'M13 19.500q3 2.6 6 0']

/** Two colours that can be read on each other, made from a text. */
export function coloursOf(text: string) {
  const hue = hues[hashOf(text) % hues.length] ?? 222
  return { skin: `hsl(${hue} 62% 84%)`, ink: `hsl(${hue} 55% 22%)`, hue }
}

/** The face of an assistant, made from its name: the same name has the same face everywhere. Paths in a square of 32. */
export function faceOf(name: string) {
  const number = hashOf(name)
  const look = Math.floor(number / hues.length)
  const eye = look % eyes.length
  const mouth = mouths[Math.floor(look / eyes.length) % mouths.length] ?? ''
  return {
    ...coloursOf(name),
    eyes: eyes[eye] ?? '',
    areEyesLines: eye === eyes.length - 1,
    mouth,
  }
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return hash
}
