import english from './en/embed.json' with { type: 'json' }
import type { Language } from './languages.ts'
import { readTexts } from './read.ts'

const files = import.meta.glob<typeof english>('./*/embed.json', { import: 'default', eager: true })

export type EmbedTexts = ReturnType<typeof textsIn>

/** The words of the chat bubble in a language; a page can set its title and greeting. */
export function textsIn(language: Language) {
  return readTexts(
    files[`./${language}/embed.json`] ?? english,
    {
      notNamed: ['site'],
      limited: ['until'],
      source: ['number', 'file'],
      page: ['page'],
      thinkingFor: ['seconds'],
      thoughtFor: ['seconds'],
    },
    language,
  )
}
