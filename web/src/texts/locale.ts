/** The language of the page: of its texts, numbers and dates. */
export const locale: 'en' | 'de' = 'en'
