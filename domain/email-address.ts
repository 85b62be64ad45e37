import { domainToASCII } from 'node:url'

/**
 * Addresses are compared without case, blanks around them, and the ways to write one letter or an international domain,
 * and are stored like that. The domain is in the form of the name servers, in which mail servers take it.
 */
export function normalizeEmail(email: string): string {
  const address = email.trim().normalize('NFC').toLowerCase()
  const at = address.lastIndexOf('@')
  const domain = address.slice(at + 1)
  return at === -1 || /^[ -~]*$/.test(domain) ? address : `${address.slice(0, at)}@${domainToASCII(domain) || domain}`
}

const letters = String.raw`[\p{L}\p{M}\p{N}!#$%&'*+/=?^_\x60{|}~-]+`
const localPart = new RegExp(String.raw`^${letters}(?:\.${letters})*$`, 'u')
const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const hostname = new RegExp(String.raw`^${label}(?:\.${label})+$`)

/**
 * Whether a text is an e-mail address, with letters of any language in both parts (RFC 6531) and blanks around it, and
 * without quotes, comments and addresses of networks.
 */
export function isEmailAddress(text: string): boolean {
  const address = text.trim()
  const at = address.lastIndexOf('@')
  const [local, domain] = [address.slice(0, at), address.slice(at + 1)]
  // Mail servers take 64 bytes before the sign, and 254 in all.
  if (at === -1 || Buffer.byteLength(local) > 64 || Buffer.byteLength(address) > 254) return false
  return localPart.test(local) && hostname.test(domainToASCII(domain.toLowerCase()))
}
