const blockBytes = 512
/** The limit of eleven octal digits: 8 GiB. */
const maxBytes = 8 ** 11 - 1

/** The header of one file in a tar archive (POSIX ustar). `name` is ASCII and at most 100 characters long. */
export function tarHeader(name: string, size: number, modified: Date): Buffer {
  if (size > maxBytes || name.length > 100) throw new Error(`${name} does not fit into an archive`)
  const header = Buffer.alloc(blockBytes)
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0')
  header.write(name, 0, 'ascii')
  header.write(octal(0o600, 7), 100, 'ascii')
  header.write(octal(0, 7), 108, 'ascii')
  header.write(octal(0, 7), 116, 'ascii')
  header.write(octal(size, 11), 124, 'ascii')
  header.write(octal(Math.floor(modified.getTime() / 1000), 11), 136, 'ascii')
  // The checksum is computed with spaces in its place.
  header.write('        ', 148, 'ascii')
  header.write('0', 156, 'ascii')
  header.write('ustar\u000000', 257, 'ascii')
  const checksum = header.reduce((sum, byte) => sum + byte, 0)
  header.write(`${octal(checksum, 6)}\u0000 `, 148, 'ascii')
  return header
}

/** The padding after the bytes of a file. */
export function tarPadding(size: number): Buffer {
  return Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes)
}

/** The end mark of an archive. */
export const tarEnd = Buffer.alloc(2 * blockBytes)
