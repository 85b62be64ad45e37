/// <reference types="vite/types/importMeta.d.ts" />
import { language, locale } from '../lib/language.ts'
import { loadAgain } from '../lib/load-again.ts'
import { type Names, type Read, readTexts } from './read.ts'

/** The file of the language of the page; of a folder that lacks it, the English one. Only that file is loaded. */
export async function load<Texts>(files: Record<string, () => Promise<Texts>>): Promise<Texts> {
  const of = (one: string) => Object.entries(files).find(([path]) => path.includes(`/${one}/`))?.[1]
  const file = of(language) ?? of('en')
  if (file === undefined) throw new Error('These texts have no file in English.')
  return loadAgain(file)
}

/** Loads the texts of a page. `names` lists those that need values; TypeScript knows them by the English file. */
export async function loadTexts<Texts extends object, const N extends Names>(
  files: Record<string, () => Promise<Texts>>,
  names: N,
): Promise<Read<Texts, N>> {
  return readTexts(await load(files), names, locale)
}
