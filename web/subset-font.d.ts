declare module 'subset-font' {
  /** The part of a font that the characters of a text need, with its tables. */
  export default function subset(
    font: Buffer,
    text: string,
    options: { targetFormat: 'woff2'; noHinting?: boolean },
  ): Promise<Buffer>
}
