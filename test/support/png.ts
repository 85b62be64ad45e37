/** The smallest PNG. */
export const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
export const pngUrl = `data:image/png;base64,${png.toString('base64')}`
/** As a part of a message. */
export const pngPart = { type: 'image_url', image_url: { url: pngUrl } }
