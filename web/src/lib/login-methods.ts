import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type Schemas, api, unwrap, useConsoleSettings } from './api.ts'
import { useSettled } from './use-settled.ts'

export interface LoginWays {
  hasPassword: boolean
  providers: Schemas['LoginProvider'][]
  /** Of the address, if these are the ways of its domain. */
  domain: string | undefined
  /** Whether the providers could not be read. */
  isFailed: boolean
  retry: () => void
}

/**
 * How somebody logs in: all ways, and once an address is written, those of its domain. Until they are known, with a
 * password.
 */
export function useLoginWays(email: string): LoginWays {
  const hasProviders = useConsoleSettings()?.social_login ?? false
  const domain = useSettled(domainOf(email))
  const all = useWays(undefined, hasProviders)
  const own = useWays(domain, hasProviders && domain !== undefined && domain === domainOf(email))
  const known = own.data ?? all.data
  return {
    hasPassword: known?.password ?? true,
    providers: known?.providers ?? [],
    domain: own.data && domain,
    isFailed: all.isError && known === undefined,
    retry: () => void all.refetch(),
  }
}

/** The service is asked for the domain, not for the person: addresses of pages and requests are kept in logs. */
const useWays = (domain: string | undefined, isAsked: boolean) =>
  useQuery({
    queryKey: ['login-methods', domain],
    enabled: isAsked,
    staleTime: 60_000,
    queryFn: () =>
      unwrap(
        api.GET('/auth/login-methods', {
          params: { query: domain === undefined ? {} : { email: `someone@${domain}` } },
        }),
      ),
  })

/** Undefined until the address looks whole. */
function domainOf(email: string): string | undefined {
  return /^[^@\s]+@([^@\s]+\.[^@\s.]{2,})$/.exec(email.trim())?.[1]?.toLowerCase()
}

let typed = ''

/** The address that a person types before the login: who goes from one of its pages to another types it once. */
export function useTypedEmail() {
  const [email, setEmail] = useState(typed)
  const keep = (next: string) => {
    typed = next
    setEmail(next)
  }
  return [email, keep] as const
}
