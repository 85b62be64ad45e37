const bytes = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const url = `data:image/png;base64,${bytes.toString('base64')}`

/** A picture of one pixel, as a part of a message. */
export const png = { bytes, url, part: { type: 'image_url', image_url: { url } } }
