import { textsIn } from '../texts/embed.ts'
import { type Language, firstSpoken } from '../texts/languages.ts'

export interface Options {
  /** The address of the script itself. */
  scriptUrl: string
  baseUrl: string
  assistantId: string
  token: string | undefined
  /** A bubble in the corner; over the whole page; or a bubble that stands open and keeps nothing. */
  layout: 'bubble' | 'page' | 'preview'
  /** The name whose face is shown. */
  face: string | undefined
  title: string
  greeting: string
  /** What a page says about the assistant. */
  description: string | undefined
  /** `#rrggbb`; without it the bubble has a colour of its own. */
  color: string | undefined
  /** Undefined: as the page. */
  theme: 'light' | 'dark' | undefined
  starters: string[]
  /** Whether the page says at once that the chat is read; a bubble learns it with the first answer. */
  isKept: boolean
  language: Language
}

const mostStarters = 4

/** What the attributes of the script tag say. */
export function optionsOf({ src, dataset }: HTMLScriptElement): Options {
  const { assistant, title, greeting, description, color, theme, starters = '', language, face } = dataset
  const layout = dataset['layout'] === 'page' || dataset['layout'] === 'preview' ? dataset['layout'] : 'bubble'
  const spoken = firstSpoken([language, document.documentElement.lang, ...navigator.languages]) ?? 'en'
  const texts = textsIn(spoken)
  return {
    scriptUrl: src,
    baseUrl: new URL(src).origin,
    assistantId: assistant ?? '',
    // Links to a page have the token after `#`, so that it stands in no log.
    token: dataset['token'] ?? (layout === 'page' ? window.location.hash.slice(1) || undefined : undefined),
    layout,
    face,
    title: title ?? texts.title,
    greeting: greeting ?? texts.greeting,
    description,
    color: color !== undefined && /^#[\da-f]{6}$/i.test(color) ? color : undefined,
    theme: theme === 'light' || theme === 'dark' ? theme : undefined,
    starters: starters
      .split('|')
      .map((starter) => starter.trim())
      .filter(Boolean)
      .slice(0, mostStarters),
    isKept: dataset['kept'] === 'true',
    language: spoken,
  }
}

/**
 * Whether the page around the bubble is dark: by its colour scheme, its background, or, where it follows that, the reader's
 * system. A page that says nothing is white everywhere.
 */
export function isPageDark(): boolean {
  const { colorScheme } = getComputedStyle(document.documentElement)
  const named = document.querySelector<HTMLMetaElement>('meta[name="color-scheme"]')?.content ?? ''
  const scheme = colorScheme === 'normal' ? named : colorScheme
  const isDark = scheme.includes('dark')
  if (isDark !== scheme.includes('light')) return isDark
  for (const element of [document.body, document.documentElement]) {
    const [red = 0, green = 0, blue = 0, alpha = 1] = (
      getComputedStyle(element).backgroundColor.match(/[\d.]+/g) ?? []
    ).map(Number)
    if (alpha > 0.5) return red * 0.299 + green * 0.587 + blue * 0.114 < 110
  }
  return isDark && window.matchMedia('(prefers-color-scheme: dark)').matches
}
