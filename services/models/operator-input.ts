import { invalidInput } from '../../domain/errors.ts'

/** Addresses of operators may be private. One with a password would show it in logs. */
export function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw invalidInput(['body', 'base_url'], 'must be an http or https URL')
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw invalidInput(['body', 'base_url'], 'must hold no user name, password, query or fragment')
  return text.replace(/\/+$/, '')
}
