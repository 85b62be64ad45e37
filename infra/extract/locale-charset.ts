import { knownCharset } from './formats/html.ts'

/** Languages (the lower ten bits of a locale) whose Windows code page is not that of the West. */
const codePages: [languages: number[], charset: string][] = [
  [[0x11], 'shift_jis'],
  [[0x12], 'euc-kr'],
  [[0x05, 0x0e, 0x15, 0x18, 0x1a, 0x1b, 0x1c, 0x24], 'windows-1250'],
  [[0x02, 0x19, 0x22, 0x23, 0x2f], 'windows-1251'],
  [[0x08], 'windows-1253'],
  [[0x1f], 'windows-1254'],
  [[0x0d], 'windows-1255'],
  [[0x01, 0x20, 0x29], 'windows-1256'],
  [[0x25, 0x26, 0x27], 'windows-1257'],
  [[0x2a], 'windows-1258'],
  [[0x1e], 'windows-874'],
]

/** Chinese as it is written in Taiwan, Hong Kong and Macau. */
const traditional = new Set([0x404, 0xc04, 0x1404])

/** The encoding in which programs of Windows wrote a language before Unicode, by the number of the locale. */
export function charsetOfLocale(locale: number): string {
  const language = locale & 0x3ff
  if (language === 0x04) return traditional.has(locale) ? 'big5' : 'gbk'
  return codePages.find(([languages]) => languages.includes(language))?.[1] ?? 'windows-1252'
}

/** Code pages whose names on the web do not follow from their numbers. */
const byPage = new Map([
  [866, 'ibm866'],
  [874, 'windows-874'],
  [932, 'shift_jis'],
  [936, 'gbk'],
  [949, 'euc-kr'],
  [950, 'big5'],
  [10000, 'macintosh'],
  [20866, 'koi8-r'],
  [21866, 'koi8-u'],
  [50220, 'iso-2022-jp'],
  [51932, 'euc-jp'],
  [51949, 'euc-kr'],
  [54936, 'gb18030'],
  [65001, 'utf-8'],
])

/** The encoding that Windows calls by this number; undefined if it is unknown. */
export const charsetOfPage = (page: number): string | undefined =>
  byPage.get(page) ?? knownCharset(page > 28590 && page < 28606 ? `iso-8859-${page - 28590}` : `windows-${page}`)
