export const slotCount = 16_384

/** CRC16 (XMODEM) of each byte, as the cluster specification gives it. */
const table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
  return crc
})

/**
 * The hash slot of a key or of a sharded channel: of what stands between the first braces, if they are not empty.
 * https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#hash-tags
 */
export function hashSlot(key: string): number {
  const open = key.indexOf('{')
  const end = open === -1 ? -1 : key.indexOf('}', open + 1)
  const hashed = end > open + 1 ? key.slice(open + 1, end) : key
  let crc = 0
  for (const byte of Buffer.from(hashed)) crc = ((crc << 8) & 0xffff) ^ (table[((crc >> 8) ^ byte) & 0xff] ?? 0)
  return crc % slotCount
}
