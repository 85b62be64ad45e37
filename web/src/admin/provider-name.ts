import { texts } from '../texts/index.ts'

/** How an account logs in, in words. */
export function providerName(provider: string): string {
  const names: Record<string, string> = texts.account.provider
  return names[provider] ?? provider
}
